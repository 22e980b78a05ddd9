"""Frames that are cut small, and texts that are none, over a socket."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from pathlib import Path

import pytest
from websockets.frames import Frame

from split_server.http.wire import websocket as protocol
from split_server.http.wire.inlet import FRAMES_PER_SECOND, SHORTEST_PIECE
from split_server.http.wire.sockets import PRINCIPAL_AT_ONCE, PRINCIPAL_PER_SECOND
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import Ping, Pong
from tests.patience import PATIENCE
from tests.server_process import STREAM_PATH, RunningServer, running_server

_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _LAST = 0x00, 0x01, 0x02, 0x08, 0x09, 0x80
_HANDSHAKE = (
    f"GET {STREAM_PATH} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\n"
)
_SPLIT = "Sec-WebSocket-Protocol: split.v1\r\n"


def _frame(head: int, data: bytes) -> bytes:
    """Masked with zeros, which leaves the bytes as they are (RFC 6455, 5.3)."""
    assert len(data) < 126
    return bytes([head, 0x80 | len(data)]) + bytes(4) + data


def _opened(server: RunningServer, extra: str = _SPLIT) -> socket.socket:
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    raw.sendall((_HANDSHAKE + extra + "\r\n").encode())
    answer = raw.recv(4096)
    if not answer.startswith(b"HTTP/1.1 101"):
        raw.close()
        pytest.fail(f"not a WebSocket: {answer!r}")
    return raw


def _close_code(raw: socket.socket) -> tuple[int, str]:
    answer = raw.makefile("rb").read()
    assert answer[0] == 0x88
    return struct.unpack("!H", answer[2:4])[0], answer[4:].decode()


def test_a_message_in_a_few_fragments_is_whole(open_server: RunningServer) -> None:
    ping = encode_message(Ping())
    with _opened(open_server) as raw:
        first, *rest = [bytes([byte]) for byte in ping]
        raw.sendall(_frame(_BINARY, first) + b"".join(_frame(_CONTINUED, one) for one in rest))
        raw.sendall(_frame(_LAST, b""))
        answer = raw.recv(4096)
    assert decode_server_message(answer[2:], 1 << 16) == Pong()


def test_a_message_in_too_many_fragments_closes_its_socket(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "MAX_FRAGMENTS", 50)
    with _opened(open_server) as raw:
        raw.sendall(_frame(_BINARY, b"x") + 100 * _frame(_CONTINUED, b""))
        assert _close_code(raw) == (1008, "too_many_fragments")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each frame that the server has parsed."""
    found, plain = list[int](), protocol._Connection.recv_frame

    def recv_frame(self: protocol._Connection, frame: Frame) -> None:
        found.append(len(frame.data))
        plain(self, frame)

    monkeypatch.setattr(protocol._Connection, "recv_frame", recv_frame)
    return found


@pytest.mark.parametrize("count", [1, 16])
def test_floods_of_fragments_leave_the_event_loop_to_others_however_many_sockets_send_them(
    count: int, tiny_path: Path, parsed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would take most of a second to parse; all together get the time of two."""
    monkeypatch.setattr(protocol, "MAX_FRAGMENTS", 1 << 20)
    flood = _frame(_BINARY, b"x") + 60_000 * _frame(_CONTINUED, b"x")
    # Its sockets stay until their frames are parsed, so nobody else is to have this server.
    with (
        running_server(tiny_path, compat=False) as server,
        contextlib.ExitStack() as stack,
        server.client() as client,
    ):
        sockets = [stack.enter_context(_opened(server)) for _ in range(count)]
        begun = time.monotonic()
        for raw in sockets:
            raw.setblocking(False)
            assert raw.send(flood) > 100_000
        for _ in range(60):
            assert client.get("/health").status_code == 200
        frames, seconds = len(parsed), time.monotonic() - begun
    # The piece with the handshake had no small frame, so the next one is twice as long.
    first_pieces = (count + 1) * 2 * SHORTEST_PIECE / 7
    per_second = min(count * FRAMES_PER_SECOND, PRINCIPAL_PER_SECOND)
    assert 0 < frames < per_second * seconds + PRINCIPAL_AT_ONCE + first_pieces


@pytest.mark.parametrize("text", [b"\xff\xfe", b"half a character \xe2\x82"])
def test_a_text_that_is_not_utf8_closes_its_socket_without_a_traceback(
    text: bytes, open_server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    with _opened(open_server, "") as raw:
        raw.sendall(_frame(_LAST | _TEXT, text))
        assert _close_code(raw) == (1007, "not_utf8")
    assert "Traceback" not in caplog.text
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


def test_pings_of_a_peer_that_reads_nothing_are_not_answered_for_ever(
    open_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[protocol.BoundedWebSocket] = []
    plain = protocol.BoundedWebSocket.handle_connect

    def handle_connect(self: protocol.BoundedWebSocket, event: object) -> None:
        plain(self, event)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(protocol.BoundedWebSocket, "handle_connect", handle_connect)
    with _opened(open_server) as raw:
        made[0].writable.clear()
        raw.sendall(400 * _frame(_LAST | _PING, b"x" * 125) + _frame(_LAST | _CLOSE, b""))
        answer = raw.makefile("rb").read()
    assert answer == b"\x88\x00"
