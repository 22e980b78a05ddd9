"""Messages between the server and the process of a grammar, over a stream socket.

``u32 LE length | body``: JSON, but for the mask of allowed tokens, ``m`` and then its bits.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, Final

MASK: Final = b"m"
LENGTH: Final = struct.Struct("<I")
# Tokens in one answer that are forced, or asked about: a body holds them however they are written.
MOST_FORCED: Final = 1 << 16
# A form is bounded by its own room; a mask has one bit for each row of the embedding.
MAX_BODY: Final = 4 << 20


class Torn(Exception):
    """The stream ended, or holds what is no message."""


def pack(body: bytes) -> bytes:
    """``body`` behind its length."""
    return LENGTH.pack(len(body)) + body


def packed(message: dict[str, Any]) -> bytes:
    """A message of JSON."""
    return pack(json.dumps(message).encode())


def asking(form: str, *, reply: bool) -> bytes:
    """What a fresh copy is asked: to steer a ``reply``, or only whether ``form``, JSON, can be
    followed.
    """
    return packed({"form": form, "reply": reply})


def read(source: socket.socket) -> bytes | None:
    """The next body, None at the end of the stream. Raises Torn, OSError."""
    head = _exactly(source, LENGTH.size)
    if not head:
        return None
    body = _exactly(source, length_of(head))
    if body is None:
        raise Torn
    return body


def length_of(head: bytes) -> int:
    """The length that a message begins with. Raises Torn."""
    (length,) = LENGTH.unpack(head)
    if not 0 < length <= MAX_BODY:
        raise Torn
    return int(length)


def document(body: bytes) -> dict[str, Any]:
    """The JSON object in ``body``. Raises Torn."""
    try:
        values = json.loads(body)
    except ValueError:
        raise Torn from None
    if not isinstance(values, dict):
        raise Torn
    return values


def _exactly(source: socket.socket, count: int) -> bytes | None:
    """None when the stream ends before the first byte. Raises Torn when it ends later."""
    data = bytearray()
    while len(data) < count:
        piece = source.recv(count - len(data))
        if not piece:
            if data:
                raise Torn
            return None
        data += piece
    return bytes(data)
