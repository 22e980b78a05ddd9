"""Refusing a connection in words that its client can read.

The first bytes decide. A request line of HTTP/1 gets a JSON error; a TLS handshake (first byte
0x16) and anything else is closed without a byte, because an answer in the wrong protocol would
only confuse. The connection is read on for a moment after the answer: closing with unread bytes
makes TCP reset it, and the client might lose the answer (RFC 9112, section 9.6).
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus

from split_relay.errors import RelayError, TooManyConnections

_METHODS = (b"GET ", b"POST ", b"HEAD ", b"PUT ", b"OPTIONS ", b"DELETE ", b"PATCH ")
_LONGEST = max(map(len, _METHODS))
_SNIFF_SECONDS = 1.0
_LINGER_SECONDS = 1.0
_MAX_DISCARDED = 8 * 1024 * 1024


def looks_like_http(first: bytes) -> bool | None:
    """Whether a connection that begins with ``first`` speaks HTTP/1; None while undecided."""
    if any(first.startswith(method) for method in _METHODS):
        return True
    if len(first) < _LONGEST and any(method.startswith(first) for method in _METHODS):
        return None
    return False


def answer(error: RelayError, *, with_body: bool = True) -> bytes:
    """An HTTP/1.1 response with the error as JSON; without body for a HEAD request."""
    status = HTTPStatus.SERVICE_UNAVAILABLE
    if isinstance(error, TooManyConnections) and error.per_address:
        status = HTTPStatus.TOO_MANY_REQUESTS
    fields = {"code": error.code, "message": error.public, "retryable": error.retryable}
    body = json.dumps({"error": fields}).encode()
    head = [
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
    ]
    if error.retryable:
        head.append("Retry-After: 1")
    return "\r\n".join([*head, "", ""]).encode() + (body if with_body else b"")


class Refusal(asyncio.Protocol):
    """Takes over an accepted connection, answers if it speaks HTTP, and closes it soon."""

    def __init__(
        self,
        error: RelayError,
        *,
        sniff_seconds: float = _SNIFF_SECONDS,
        linger_seconds: float = _LINGER_SECONDS,
    ) -> None:
        self._error = error
        self._sniff_seconds = sniff_seconds
        self._linger_seconds = linger_seconds
        self._loop = asyncio.get_running_loop()
        self._first = b""
        self._discarded = 0
        self._answered = False
        self.finished: asyncio.Future[None] = self._loop.create_future()

    def take(self, transport: asyncio.Transport) -> None:
        """Start on a connection whose reading is paused."""
        self._transport = transport
        if transport.is_closing():
            self.finished.set_result(None)
            return
        self._timer = self._loop.call_later(self._sniff_seconds, transport.abort)
        transport.set_protocol(self)
        transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        self._discarded += len(data)
        if self._answered:
            if self._discarded > _MAX_DISCARDED:
                self._transport.abort()
            return
        self._first = (self._first + data)[:_LONGEST]
        verdict = looks_like_http(self._first)
        if verdict is False:
            self._transport.abort()
        elif verdict:
            self._answer()

    def _answer(self) -> None:
        self._answered = True
        self._timer.cancel()
        self._timer = self._loop.call_later(self._linger_seconds, self._transport.abort)
        self._transport.write(answer(self._error, with_body=not self._first.startswith(b"HEAD ")))
        self._transport.write_eof()

    def eof_received(self) -> bool:
        return False  # the transport sends its buffer and closes

    def connection_lost(self, _exc: Exception | None) -> None:
        self._timer.cancel()
        if not self.finished.done():
            self.finished.set_result(None)
