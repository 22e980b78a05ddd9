"""Bad messages of the original protocol, as text and binary, over WebSocket and POST."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from tests.end_to_end.bystander import undisturbed
from tests.end_to_end.lines import STATUS
from tests.patience import PATIENCE
from tests.server_process import FORWARD_PATH, RunningServer, running_server

WIDTH = 64
Ask = Callable[[str | bytes], str]


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


@pytest.fixture(autouse=True)
def other_session(server: RunningServer, tiny_path: Path) -> Iterator[None]:
    with undisturbed(server, tiny_path):
        yield


def _code(reply: dict[str, Any]) -> str:
    return str(reply["code"]) if reply.get("type") == "error" else "served"


@pytest.fixture(params=["websocket", "post"])
def ask(request: pytest.FixtureRequest, server: RunningServer) -> Iterator[Ask]:
    """Sends a message and returns the code of its refusal, or "served"."""
    if request.param == "websocket":
        with server.socket(subprotocol=None) as websocket:

            def over_socket(message: str | bytes) -> str:
                websocket.send(message)
                answer = websocket.recv(timeout=20)
                return _code(json.loads(answer)) if isinstance(answer, str) else "served"

            yield over_socket
        return
    with server.client() as client:

        def by_post(message: str | bytes) -> str:
            binary = isinstance(message, bytes)
            kind = "application/octet-stream" if binary else "application/json"
            response = client.post(FORWARD_PATH, content=message, headers={"Content-Type": kind})
            if response.status_code == 200:
                return "served"
            code = str(response.json()["error"]["code"])
            assert response.status_code == STATUS[code]
            return code

        yield by_post


def _encoded(*values: float, count: int = WIDTH) -> str:
    rows = np.zeros(count, "<f4")
    rows[: len(values)] = values
    return base64.b64encode(rows.tobytes()).decode()


def _forward(**fields: Any) -> str:
    return json.dumps({"type": "forward", "hidden_states": _encoded(0.5)} | fields)


def _binary(header: str | bytes, rows: bytes = b"", length: int | None = None) -> bytes:
    data = header.encode() if isinstance(header, str) else header
    return struct.pack("<I", len(data) if length is None else length) + data + rows


TEXTS: dict[str, tuple[str, str]] = {
    "nothing": ("", "malformed_message"),
    "no JSON": ("hello", "malformed_message"),
    "a number": ("7", "malformed_message"),
    "text": ('"forward"', "malformed_message"),
    "null": ("null", "malformed_message"),
    "a list": ('[{"type": "ping"}]', "malformed_message"),
    "cut in the middle": (_forward()[:60], "malformed_message"),
    "a key twice": ('{"type": "ping", "type": "config"}', "malformed_message"),
    "NaN as a value": ('{"type": "ping", "x": NaN}', "malformed_message"),
    "nested without end": ("[" * 50_000, "malformed_message"),
    "a type that is a number": ('{"type": 1}', "malformed_message"),
    "an unknown type": ('{"type": "steal"}', "unknown_message"),
    "no rows": ('{"type": "forward"}', "malformed_message"),
    "rows that are not base64": (_forward(hidden_states="%%%"), "malformed_message"),
    "rows that are a list": (_forward(hidden_states=[0.1] * WIDTH), "malformed_message"),
    "rows twice": (_forward(hidden_states_b64=_encoded()), "malformed_message"),
    "an empty row": (_forward(hidden_states=""), "wrong_shape"),
    "half a row": (_forward(hidden_states=_encoded(count=WIDTH // 2)), "wrong_shape"),
    "another length than announced": (_forward(seq_len=2), "wrong_shape"),
    "another hidden size": (_forward(hidden_dim=65), "wrong_hidden_size"),
    "NaN": (_forward(hidden_states=_encoded(float("nan"))), "non_finite"),
    "infinity": (_forward(hidden_states=_encoded(0, float("inf"))), "non_finite"),
    "more rows than one message may have": (_forward(seq_len=5000), "too_many_rows"),
    "more rows than the context": (
        _forward(hidden_states=_encoded(count=513 * WIDTH)),
        "context_overflow",
    ),
    "a session name that is a number": (_forward(session_id=5), "malformed_message"),
    "a session name with control characters": (_forward(session_id="\0a"), "malformed_message"),
    "text to tokenize, which it would show": (
        '{"type": "tokenize", "text": "hi"}',
        "tokenize_disabled",
    ),
}
_ROW = bytes(4 * WIDTH)
BINARIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "malformed_message"),
    "shorter than the length": (b"\1\0", "malformed_message"),
    "a length beyond the message": (_binary("{}", length=100), "malformed_message"),
    "a length beyond all bounds": (_binary("{}", length=2**32 - 1), "malformed_message"),
    "a header that is no object": (_binary("[]", _ROW), "malformed_message"),
    "a header that is not UTF-8": (_binary(b'{"a": "\xff"}', _ROW), "malformed_message"),
    "no rows": (_binary('{"type": "forward"}'), "wrong_shape"),
    "half a row": (_binary("{}", _ROW[:100]), "wrong_shape"),
    "one byte too many": (_binary("{}", _ROW + b"\0"), "wrong_shape"),
    "NaN": (_binary("{}", _ROW[:-4] + b"\0\0\xc0\x7f"), "non_finite"),
    "bytes after a ping": (_binary('{"type": "ping"}', _ROW), "malformed_message"),
    "a frame of split.v1": (b"SPL1" + bytes(20), "malformed_message"),
}


def test_bad_text_is_refused_with_its_code_and_the_next_message_is_served(ask: Ask) -> None:
    assert {name: ask(text) for name, (text, _) in TEXTS.items()} == {
        name: code for name, (_, code) in TEXTS.items()
    }
    assert ask(_forward()) == "served"


def test_bad_binary_is_refused_with_its_code_and_the_next_message_is_served(ask: Ask) -> None:
    assert {name: ask(data) for name, (data, _) in BINARIES.items()} == {
        name: code for name, (_, code) in BINARIES.items()
    }
    assert ask(_binary("{}", _ROW)) == "served"


def test_a_message_slightly_too_large_is_told_so(ask: Ask, server: RunningServer) -> None:
    parser = server.parts.original._parser
    assert ask(_binary("{}", bytes(parser.max_binary_bytes - 5))) == "frame_too_large"
    assert ask(_forward()) == "served"


def test_a_named_session_that_a_bad_message_hits_goes_on(ask: Ask) -> None:
    named = {"session_id": "mine", "incremental": True}
    assert ask(_forward(**named)) == "served"
    assert ask(_forward(hidden_states=_encoded(float("nan")), **named)) == "non_finite"
    overflow = _encoded(count=512 * WIDTH)
    assert ask(_forward(hidden_states=overflow, **named)) == "context_overflow"
    assert ask(_forward(**named)) == "served"


def test_a_message_far_too_large_closes_its_websocket_with_1009(server: RunningServer) -> None:
    def send_and_listen() -> None:
        # The close frame may arrive while the message is still being sent.
        websocket.send("[" * (server.app.max_message_bytes + 1))
        websocket.recv(timeout=PATIENCE)

    with server.socket(subprotocol=None) as websocket, pytest.raises(ConnectionClosed) as caught:
        send_and_listen()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009


@pytest.mark.parametrize("path", ["/api/v1/split/tokenize", "/api/v1/split/verify"])
@pytest.mark.parametrize("body", ["[]", "7", "", "{", '{"probe_text": 5, "text": 5}'])
def test_a_probe_that_is_no_object_is_refused(path: str, body: str, server: RunningServer) -> None:
    with server.client() as client:
        response = client.post(path, content=body)
    code = response.json()["error"]["code"]
    assert code == ("tokenize_disabled" if "tokenize" in path else "malformed_message")
    assert response.status_code == STATUS[code]
