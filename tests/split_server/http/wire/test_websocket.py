"""Frames that are cut small, and texts that are none, over a socket."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time

import pytest

from split_server.http.wire import websocket as protocol
from split_wire.messages import Ping, Pong, decode_server_message, encode_message
from tests.server_process import STREAM_PATH, RunningServer

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
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=10)
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


def test_a_flood_of_fragments_leaves_the_event_loop_to_others(open_server: RunningServer) -> None:
    """The flood would take most of a second to parse; the others do not wait for all of it."""
    flood = _frame(_BINARY, b"x") + 60_000 * _frame(_CONTINUED, b"x")
    stop = threading.Event()

    def send() -> None:
        # Far fewer than a principal may have: the server keeps one until it has seen its end.
        for _ in range(16):
            if stop.is_set():
                return
            with contextlib.suppress(OSError), _opened(open_server) as raw:
                raw.sendall(flood)

    sending = threading.Thread(target=send)
    with open_server.client() as client:
        client.get("/health")
        sending.start()
        answered = 0
        until = time.monotonic() + 1.0
        while time.monotonic() < until:
            assert client.get("/health").status_code == 200
            answered += 1
        stop.set()
        sending.join(20)
    assert answered > 20


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
