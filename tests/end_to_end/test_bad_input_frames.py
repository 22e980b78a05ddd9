"""Frames that are broken, too large or say what cannot be, over both transports.

Each is refused with its code; the session it came for goes on, and so does somebody else's.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from split_wire.codec import encode_message
from split_wire.frame import Frame, encode_frame
from split_wire.messages import CONTENT_TYPE, Open, Ping, Pong
from split_wire.tensor import Tensor
from tests.end_to_end.bystander import undisturbed
from tests.end_to_end.lines import KINDS, Kind, Session, line_to, refusal, some_rows
from tests.patience import PATIENCE
from tests.server_process import FORWARD_PATH, RunningServer, running_server

WIDTH = 64
_NOTHING = b"\0" * 16
Change = Callable[[bytes], bytes]


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


@pytest.fixture(autouse=True)
def other_session(server: RunningServer, tiny_path: Path) -> Iterator[None]:
    with undisturbed(server, tiny_path):
        yield


def _header(header: Any, rest: bytes = b"") -> bytes:
    """A frame around anything that msgpack can pack."""
    packed: bytes = msgpack.packb(header)
    return b"SPL1" + struct.pack("<I", len(packed)) + packed + rest


_ROW = np.linspace(-1, 1, WIDTH, dtype=np.float32).tobytes()[:8]
BROKEN: dict[str, Change] = {
    "nothing at all": lambda frame: b"",
    "cut inside the prefix": lambda frame: frame[:6],
    "cut inside the header": lambda frame: frame[:40],
    "cut inside the rows": lambda frame: frame[:-1],
    "one byte too many": lambda frame: frame + b"\0",
    "another magic": lambda frame: b"SPL2" + frame[4:],
    "a header length beyond the frame": lambda frame: frame[:4] + b"\xff" * 4 + frame[8:],
    "padding that is not zero": lambda frame: frame.replace(b"\0" + _ROW, b"\1" + _ROW),
    "more rows described than sent": lambda frame: frame.replace(b"\x92\x01\x40", b"\x92\x03\x40"),
    "fewer rows described than sent": lambda frame: frame.replace(b"\x92\x01\x40", b"\x92\x00\x40"),
    "a header that is no map": lambda frame: _header([1, 2, 3]),
    "a header with numbers as keys": lambda frame: _header({1: 2}),
    "arrays nested without end": lambda frame: b"SPL1" + struct.pack("<I", 5000) + b"\x91" * 5000,
    "text of the original protocol": lambda frame: b'{"type": "config"}',
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_frame_is_malformed_and_its_session_goes_on(
    name: str, kind: Kind, server: RunningServer
) -> None:
    with line_to(server, kind) as line:
        session = Session(server, line)
        session.run()
        whole = encode_message(session.message())
        broken = BROKEN[name](whole)
        assert broken != whole
        assert refusal(line, broken) == "malformed_frame"
        session.run()


@pytest.mark.parametrize("kind", KINDS)
def test_random_bytes_are_malformed(kind: Kind, server: RunningServer) -> None:
    rng = np.random.default_rng(20)
    with line_to(server, kind) as line:
        for size in (1, 4, 7, 8, 9, 100, 4096, 150_000):
            assert refusal(line, rng.bytes(size)) == "malformed_frame"
            magic = b"SPL1" + struct.pack("<I", min(size, 60_000)) + rng.bytes(size)
            assert refusal(line, magic) == "malformed_frame"
        assert line.ask(encode_message(Ping())) == Pong()


MESSAGES: dict[str, tuple[dict[str, Any], str]] = {
    "no type": ({}, "malformed_message"),
    "a type that is a number": ({"type": 7}, "malformed_message"),
    "an unknown type": ({"type": "steal"}, "unknown_message"),
    "an answer of a server": ({"type": "opened"}, "unknown_message"),
    "another version": ({"type": "open", "version": 2}, "unsupported_version"),
    "a version that is text": ({"type": "open", "version": "1"}, "malformed_message"),
    "a dtype that nothing has": ({"type": "open", "version": 1, "dtype": "f64"}, "wrong_dtype"),
    "another model's manifest": (
        {"type": "open", "version": 1, "manifest": "0" * 64},
        "model_changed",
    ),
    "a step without rows": (
        {"type": "step", "session": "s", "step": 1, "start": 0, "prefix": _NOTHING},
        "malformed_message",
    ),
    "a negative start": (
        {"type": "step", "session": "s", "step": 1, "start": -1, "prefix": _NOTHING},
        "malformed_message",
    ),
    "a tensor list that is no list": ({"type": "ping", "tensors": 3}, "malformed_message"),
    "a tensor of a width beyond all bounds": (
        {"type": "ping", "tensors": [["x", "f32", [1, 1 << 40]]]},
        "malformed_message",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_messages_that_say_what_cannot_be_are_refused(kind: Kind, server: RunningServer) -> None:
    with line_to(server, kind) as line:
        got = {name: refusal(line, _header(header)) for name, (header, _) in MESSAGES.items()}
        assert got == {name: code for name, (_, code) in MESSAGES.items()}
        assert line.ask(encode_message(Ping())) == Pong()


def _with(value: float, dtype: str = "f32") -> Tensor:
    """One row with one ``value`` in it, which honest encoding would refuse."""
    storage = {"f32": "<f4", "f16": "<f2"}[dtype]
    row = np.zeros((1, WIDTH), storage)
    row[0, WIDTH // 2] = value
    return Tensor(dtype, (1, WIDTH), row.tobytes())  # type: ignore[arg-type]


def _raw(dtype: str, item: bytes, scale: float = 1.0) -> Tensor:
    scales = np.float32(scale).tobytes() if dtype == "i8" else b""
    return Tensor(dtype, (1, WIDTH), item * WIDTH, scales)  # type: ignore[arg-type]


def _zeros(rows: int, width: int) -> Tensor:
    return Tensor("f32", (rows, width), bytes(4 * rows * width))


ROWS: dict[str, tuple[Tensor, str]] = {
    "no row": (_zeros(0, WIDTH), "wrong_shape"),
    "rows too narrow": (_zeros(1, WIDTH - 1), "wrong_hidden_size"),
    "rows too wide": (_zeros(2, 2 * WIDTH), "wrong_hidden_size"),
    "513 rows": (_zeros(513, WIDTH), "too_many_rows"),
    "NaN": (_with(np.nan), "non_finite"),
    "infinity": (_with(np.inf), "non_finite"),
    "minus infinity": (_with(-np.inf), "non_finite"),
    "NaN in f16": (_with(np.nan, "f16"), "non_finite"),
    "infinity in f16": (_with(np.inf, "f16"), "non_finite"),
    "NaN in bf16": (_raw("bf16", b"\xc0\x7f"), "non_finite"),
    "infinity in bf16": (_raw("bf16", b"\x80\x7f"), "non_finite"),
    "a scale that is NaN": (_raw("i8", b"\1", np.nan), "non_finite"),
    "a scale that overflows": (_raw("i8", b"\1", 3e38), "non_finite"),
    "a scale of zero": (_raw("i8", b"\1", 0.0), "malformed_message"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ROWS)
def test_bad_rows_are_refused_and_nothing_of_them_is_cached(
    name: str, kind: Kind, server: RunningServer
) -> None:
    rows, code = ROWS[name]
    with line_to(server, kind) as line:
        session = Session(server, line)
        session.run(embeddings=some_rows(server, 3))
        assert session.refused(embeddings=rows) == code
        session.run(embeddings=some_rows(server, 2))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_a_dtype_that_the_wire_does_not_have_are_refused(
    kind: Kind, server: RunningServer
) -> None:
    with line_to(server, kind) as line:
        session = Session(server, line)
        frame = encode_message(session.message()).replace(b"\xa3f32", b"\xa3f64")
        assert refusal(line, frame) == "wrong_dtype"
        tensors = {"embeddings": some_rows(server), "embeddings2": some_rows(server)}
        twice = encode_frame(Frame({"type": "ping"}, tensors)).replace(
            b"\xabembeddings2", b"\xaaembeddings"
        )
        assert refusal(line, twice).startswith("malformed_")
        session.run()


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_slightly_too_large_is_told_so(kind: Kind, server: RunningServer) -> None:
    limit = server.parts.framed.max_frame_bytes
    with line_to(server, kind) as line:
        session = Session(server, line)
        assert refusal(line, b"SPL1" + bytes(limit - 3)) == "frame_too_large"
        if kind == "websocket":
            session.run()


@pytest.mark.parametrize("announced_only", [False, True])
def test_a_frame_far_too_large_closes_its_websocket_with_1009(
    announced_only: bool, server: RunningServer
) -> None:
    def send_and_listen() -> None:
        # The close frame may arrive while the message is still being sent.
        if announced_only:
            websocket.socket.sendall(b"\x82\xff" + struct.pack(">Q", 1 << 40) + b"mask")
        else:
            websocket.send(bytes(server.app.max_message_bytes + 1))
        websocket.recv(timeout=PATIENCE)

    with server.socket() as websocket, pytest.raises(ConnectionClosed) as caught:
        send_and_listen()
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009


@pytest.mark.parametrize("length", ["Content-Length: 1099511627776", "Transfer-Encoding: chunked"])
def test_a_body_far_too_large_is_refused_without_being_read(
    length: str, server: RunningServer
) -> None:
    head = (
        f"POST {FORWARD_PATH} HTTP/1.1\r\nHost: localhost\r\n"
        f"Content-Type: {CONTENT_TYPE}\r\n{length}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        raw.sendall(head.encode())
        if "chunked" in length:
            size = server.parts.framed.max_frame_bytes + 1
            raw.sendall(b"%x\r\n" % size + bytes(size) + b"\r\n")
        answer = raw.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"frame_too_large" in answer


def test_text_on_a_websocket_for_frames_is_malformed(server: RunningServer) -> None:
    with server.socket() as websocket:
        websocket.send("hello")
        answer = websocket.recv(timeout=PATIENCE)
        assert isinstance(answer, bytes)
        assert b"malformed_frame" in answer
        websocket.send(encode_message(Open()))
        assert b"opened" in websocket.recv(timeout=PATIENCE)
