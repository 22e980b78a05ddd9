"""uvicorn's protocol of HTTP connections, with the limits on a peer that it lacks."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from split_server.http.wire.doors import Doors, Place
from split_server.http.wire.inlet import SMALL_FRAME, Inlet
from split_server.security.authenticate import ADMITTED_EXTENSION
from split_server.security.hanging_up import ABORT_EXTENSION, reset

MAX_HEAD_BYTES = 64 * 1024
# As many as the library of WebSockets takes; every guard looks through all of them.
MAX_HEADERS = 128
# Of a header: colon, space, end of line.
_BETWEEN = 4
_TOO_LARGE = "The head of the request is too large."
HEAD_SECONDS = 15.0
STALL_SECONDS = 60.0
# Between two requests of a connection; strangers are those that no request was let in of.
KEEP_ALIVE_SECONDS = 75.0
STRANGERS_KEEP_ALIVE_SECONDS = 5.0


class BoundedHttp(HttpToolsProtocol):
    """A request's head is at most 64 KB with 128 headers and complete within 15 s; trailers are
    ignored. A peer that reads nothing of an answer for a minute is cut off.

    What arrives is parsed in small pieces, and nothing while requests wait for the answer to the
    one before them. Requests can abort their connection through an ASGI extension, because closing
    one waits for a reader that may never read.
    """

    _inlet: Inlet
    _in_head = False
    # Bytes that came while a head was not whole, and those of its parts that were parsed.
    _head_bytes = _parsed_bytes = 0
    _too_large = False
    # Of the request at hand: headers, and pieces of its body; what cost more than its bytes.
    _headers = _pieces = _small = 0
    _head_timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, place: Place | None = None, **named: Any) -> None:
        super().__init__(*arguments, **named)
        # A host that is not ours counts its connections itself.
        self._place = Doors().enter("") if place is None else place

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._inlet = Inlet(transport, self._parse, self.loop, self._is_ready)
        super().connection_made(cast("asyncio.Transport", self._inlet))
        self._place.abort = transport.abort
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._place.leave()
        self._inlet.drop()
        self._head_is_there()
        self._stop_watching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_unread()

    def resume_writing(self) -> None:
        if not self.transport.is_closing():
            self._stop_watching()
        super().resume_writing()

    def on_response_complete(self) -> None:
        known = self._place.known
        seconds: Any = KEEP_ALIVE_SECONDS if known else STRANGERS_KEEP_ALIVE_SECONDS
        self.timeout_keep_alive = seconds
        super().on_response_complete()
        self._watch_closing()
        self._inlet.go_on()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._watch_closing()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        extensions: dict[str, Any] = {
            ABORT_EXTENSION: partial(reset, self.transport),
            ADMITTED_EXTENSION: self._place.know,
        }
        self.scope["extensions"] = extensions
        self._in_head, self._head_bytes, self._parsed_bytes = True, 0, 0
        self._headers = self._pieces = 0
        self._await_head()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:
            self._headers += 1
            self._count(len(name) + len(value) + _BETWEEN)
            super().on_header(name, value)
        else:
            self._small += 1

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_is_there()
        super().on_headers_complete()
        self._small += bool(self.pipeline)

    def on_body(self, body: bytes) -> None:
        self._pieces += 1
        # The only piece of a short body is an ordinary one.
        self._small += self._pieces > 1 and len(body) < SMALL_FRAME
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        self._inlet.take(data)

    def _is_ready(self) -> bool:
        return not (self.pipeline or self.transport.is_closing())

    def _parse(self, data: bytes) -> int:
        """How much of a piece of what has arrived cost more than its bytes."""
        before = self._small
        super().data_received(data)
        self._count_head(data)
        return self._small - before

    def _count_head(self, data: bytes) -> None:
        if not self._in_head or self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self._too_large = True
            self.send_400_response("")

    def send_400_response(self, msg: str) -> None:
        super().send_400_response(_TOO_LARGE if self._too_large else msg)

    def _count(self, size: int) -> None:
        """A head that comes in one piece is parsed before its bytes can be counted."""
        self._parsed_bytes += size
        if self._parsed_bytes > MAX_HEAD_BYTES or self._headers > MAX_HEADERS:
            self._too_large = True
            raise ValueError(_TOO_LARGE)

    def handle_websocket_upgrade(self) -> None:
        # The connection keeps its place.
        plain: Any = self.config.ws_protocol_class
        made: Any = partial(plain, place=self._place)
        self.ws_protocol_class = made
        # It parses in pieces by itself.
        self.transport = self._inlet.give_up()
        super().handle_websocket_upgrade()

    def _watch_closing(self) -> None:
        """A connection closes when all is read, which may be never."""
        if self.transport.is_closing():
            self._watch_unread()

    def _watch_unread(self) -> None:
        self._stop_watching()
        left = self.transport.get_write_buffer_size()
        self._unread_timer = self.loop.call_later(STALL_SECONDS, self._check_unread, left)

    def _check_unread(self, before: int) -> None:
        if self.transport.get_write_buffer_size() >= before:
            self.transport.abort()
        else:
            self._watch_unread()

    def _stop_watching(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _await_head(self) -> None:
        self._head_is_there()
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._check_head)

    def _check_head(self) -> None:
        if self.pipeline:
            # The rest may be there, and is not looked at before the requests that wait.
            self._await_head()
        else:
            self.transport.abort()

    def _head_is_there(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
