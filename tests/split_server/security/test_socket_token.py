"""A bearer token among the subprotocols of a WebSocket."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from split_server.security.socket_token import take_tokens
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import Open, Opened
from tests.patience import logged
from tests.server_process import STREAM_PATH, RunningServer, running_server
from tests.split_server.conftest import ALLOWED_ORIGIN, TOKEN

_ALICE = "alice+has/this~token=="


def _name(token: str) -> str:
    return "split.bearer." + base64.urlsafe_b64encode(token.encode()).rstrip(b"=").decode()


def _connect(server: RunningServer, *offered: str, **headers: str) -> ClientConnection:
    options: dict[str, Any] = {"compression": None, "proxy": None, "subprotocols": list(offered)}
    url = f"ws://127.0.0.1:{server.port}{STREAM_PATH}"
    return connect(url, additional_headers=headers, **options)


def _refusal(server: RunningServer, *offered: str, **headers: str) -> tuple[int, str]:
    with pytest.raises(InvalidStatus) as caught, _connect(server, *offered, **headers):
        pass
    response = caught.value.response
    assert response.body is not None
    assert not any("split.bearer" in value for _, value in response.headers.raw_items())
    assert b"split.bearer" not in response.body
    return response.status_code, json.loads(response.body)["error"]["code"]


def _session(socket: ClientConnection) -> str:
    socket.send(encode_message(Open()))
    reply = socket.recv()
    assert isinstance(reply, bytes)
    opened = decode_server_message(reply, 1 << 20)
    assert isinstance(opened, Opened)
    return opened.session


@pytest.fixture(scope="module")
def peopled_server(
    tiny_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text(f"alice {_ALICE}\n")
    with running_server(tiny_path, token_file=tokens) as server:
        yield server


def test_the_owners_token_opens_the_socket_and_is_not_echoed(guarded_server: RunningServer) -> None:
    with _connect(guarded_server, "split.v1", _name(TOKEN)) as socket:
        assert _session(socket)
        assert socket.subprotocol == "split.v1"
        assert socket.response is not None
        assert socket.response.headers.get_all("Sec-WebSocket-Protocol") == ["split.v1"]


def test_the_order_of_the_two_does_not_matter(guarded_server: RunningServer) -> None:
    with _connect(guarded_server, _name(TOKEN), "split.v1") as socket:
        assert socket.subprotocol == "split.v1"


def test_a_token_of_the_file_makes_its_owner_the_principal(peopled_server: RunningServer) -> None:
    with _connect(peopled_server, "split.v1", _name(_ALICE)) as socket:
        session = _session(socket)
        store = peopled_server.parts.steps.store
        assert {held.principal for held in store._all() if held.key == session} == {"alice"}


@pytest.mark.parametrize(
    "offered",
    [
        ["split.v1", _name("wrong-token-of-length")],
        ["split.v1", _name(TOKEN), _name(TOKEN)],
        ["split.v1", _name(TOKEN), _name("wrong-token-of-length")],
        ["split.v1", "split.bearer." + TOKEN],
        ["split.v1", "split.bearer"],
        ["split.v1", "split.bearer."],
        ["split.v1", _name(TOKEN) + "A"],
        ["split.v1", _name(TOKEN).replace("split.", "SPLIT.")],
        ["split.v1"],
    ],
)
def test_anything_but_one_known_token_is_unauthorized(
    offered: list[str], guarded_server: RunningServer
) -> None:
    assert _refusal(guarded_server, *offered) == (401, "unauthorized")


def test_a_token_in_both_places_is_refused(guarded_server: RunningServer) -> None:
    both = _refusal(guarded_server, "split.v1", _name(TOKEN), Authorization=f"Bearer {TOKEN}")
    assert both == (401, "unauthorized")


def test_a_token_without_the_protocol_does_not_fall_back_to_the_original_one(
    guarded_server: RunningServer,
) -> None:
    assert _refusal(guarded_server, _name(TOKEN)) == (400, "bad_request")


def test_a_foreign_page_with_the_token_is_refused(guarded_server: RunningServer) -> None:
    foreign = _refusal(guarded_server, "split.v1", _name(TOKEN), Origin="https://evil.example")
    assert foreign == (403, "forbidden_origin")
    with _connect(guarded_server, "split.v1", _name(TOKEN), Origin=ALLOWED_ORIGIN) as socket:
        assert _session(socket)


def test_where_no_token_is_asked_for_it_is_ignored(open_server: RunningServer) -> None:
    with _connect(open_server, "split.v1", _name("whatever-it-may-be")) as socket:
        assert _session(socket)


def test_http_knows_no_such_credential(guarded_server: RunningServer) -> None:
    header = {"Sec-WebSocket-Protocol": f"split.v1, {_name(TOKEN)}"}
    with guarded_server.client() as client:
        assert client.get("/weights/manifest.json", headers=header).status_code == 401


def test_the_token_never_reaches_the_log(
    guarded_server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    hidden = _name(TOKEN).removeprefix("split.bearer.")
    with caplog.at_level("DEBUG"):
        with _connect(guarded_server, "split.v1", _name(TOKEN)):
            pass
        _refusal(guarded_server, "split.v1", _name("wrong-token-of-length"))
        text = logged(caplog, " 401 ")
    assert TOKEN not in text
    assert hidden not in text


@pytest.mark.parametrize(
    "text", ["", "!", "QUJD=", "QUJ", "QUJDR", "QR", "AAAA", "w6k", "A" * 684, "QUJD\n"]
)
def test_what_is_no_base64_of_a_token_is_the_empty_token(text: str) -> None:
    scope: dict[str, Any] = {"subprotocols": ["split.v1", f"split.bearer.{text}"], "headers": []}
    assert take_tokens(scope) == [""]
    assert scope["subprotocols"] == ["split.v1", "split.bearer"]


def test_nothing_of_the_request_holds_the_token_any_more() -> None:
    offered = ["split.v1", _name(TOKEN)]
    headers = [
        (b"host", b"localhost"),
        (b"sec-websocket-protocol", offered[0].encode()),
        (b"sec-websocket-protocol", offered[1].encode()),
    ]
    scope: dict[str, Any] = {"subprotocols": offered, "headers": headers}
    assert take_tokens(scope) == [TOKEN]
    assert scope["headers"] == [
        (b"host", b"localhost"),
        (b"sec-websocket-protocol", b"split.v1, split.bearer"),
    ]


def test_a_request_without_such_a_token_stays_as_it_was() -> None:
    headers = [(b"sec-websocket-protocol", b"split.v1")]
    scope: dict[str, Any] = {"subprotocols": ["split.v1"], "headers": headers}
    assert take_tokens(scope) == []
    assert scope == {"subprotocols": ["split.v1"], "headers": headers}
