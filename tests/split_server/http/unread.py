"""A WebSocket whose peer asks and never reads."""

from __future__ import annotations

import contextlib
import socket

from split_wire.codec import encode_message
from split_wire.messages import Ping
from tests.server_process import STREAM_PATH, RunningServer


def unread_socket(server: RunningServer, token: str) -> socket.socket:
    """Asks until nothing more is taken; the server's only connection by then."""
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.connect(("127.0.0.1", server.port))
    raw.sendall(
        f"GET {STREAM_PATH} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: split.v1\r\n"
        f"Authorization: Bearer {token}\r\n\r\n".encode()
    )
    raw.recv(1000)
    (connection,) = server.server.server_state.connections
    # What the system takes for a peer that reads nothing would take seconds to fill.
    connection.transport.get_extra_info("socket").setsockopt(
        socket.SOL_SOCKET, socket.SO_SNDBUF, 4096
    )
    # A busy server takes nothing for a while either.
    while not connection.transport.get_write_buffer_size():
        _ask_until_nothing_is_taken(raw)
    return raw


def _ask_until_nothing_is_taken(raw: socket.socket) -> None:
    ping = encode_message(Ping())
    # A client's frames are masked (RFC 6455, 5.3); a mask of zeros leaves the bytes as they are.
    frames = (b"\x82" + bytes([0x80 | len(ping)]) + bytes(4) + ping) * 1000
    raw.settimeout(0.3)
    with contextlib.suppress(TimeoutError):
        while True:
            raw.send(frames)
