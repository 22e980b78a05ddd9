"""WebSockets as bytes, so that an attack can send what no library would."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

BINARY, CONTINUED, PING, LAST = 0x02, 0x00, 0x09, 0x80
_STREAM = "/api/v1/split/stream"


def connected(url: str, unread: bool = False) -> socket.socket:
    """A connection to the server at ``url``; ``unread``: little fits in between."""
    address = urlsplit(url)
    made = socket.socket()
    if unread:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    made.settimeout(10)
    made.connect((address.hostname, address.port))
    return made


def stream(url: str, token: str, unread: bool = False) -> socket.socket:
    """A WebSocket that speaks ``split.v1``. Raises ConnectionError when it is refused."""
    made = connected(url, unread)
    made.sendall(
        f"GET {_STREAM} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: split.v1\r\n"
        f"Authorization: Bearer {token}\r\n\r\n".encode()
    )
    answer = made.recv(4096)
    if not answer.startswith(b"HTTP/1.1 101"):
        made.close()
        raise ConnectionError(answer[:40])
    return made


def frame(head: int, data: bytes) -> bytes:
    """A short frame, masked with zeros, which leaves the bytes as they are (RFC 6455, 5.3)."""
    return bytes([head, 0x80 | len(data)]) + bytes(4) + data
