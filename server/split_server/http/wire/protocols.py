"""uvicorn's connection protocols, with the limits on a peer that they lack."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.typing import StatusLike

from split_server.http.wire.sockets import ARRIVING_EXTENSION
from split_server.security.hanging_up import ABORT_EXTENSION
from split_wire.errors import Overloaded

MAX_HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 15.0
LINGER_SECONDS = 15.0
UNREAD_SECONDS = 5.0
STALL_SECONDS = 60.0
# "Try Again Later" in the registry of close codes (IANA, after RFC 6455, 11.7).
_TRY_AGAIN_LATER = 1013


class BoundedHttp(HttpToolsProtocol):
    """A request's head is at most 64 KB and complete within 15 s; trailers are ignored. A peer that
    reads nothing of an answer for a minute is cut off.

    Requests can abort their connection through an ASGI extension, because closing one waits for a
    reader that may never read.
    """

    _in_head = False
    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
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
        super().on_response_complete()
        self._watch_closing()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._watch_closing()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        extensions: dict[str, Any] = {ABORT_EXTENSION: self.transport.abort}
        self.scope["extensions"] = extensions
        self._in_head, self._head_bytes = True, 0
        self._await_head()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._head_is_there()
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._in_head:
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD_BYTES:
            self.send_400_response("The head of the request is too large.")

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
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _head_is_there(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class _Handshake(ServerProtocol):
    """Refuses without repeating what was sent, which may hold a token."""

    def reject(self, status: StatusLike, text: str) -> Response:  # noqa: ARG002
        return super().reject(status, f"{HTTPStatus(status).phrase}\n")


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A peer that answers no ping, or reads nothing of what is left to send, is cut off, and so is
    one whose handshake cannot be parsed, which uvicorn would keep.

    Bytes of a message that is not whole yet are counted with those of the principal's other
    sockets; at the limit the socket is closed with 1013.
    """

    _unfinished = 0
    _failed = False

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = _Handshake(max_size=config.ws_max_size, logger=self.logger)

    def data_received(self, data: bytes) -> None:
        if self._failed:
            return
        self._unfinished += len(data)
        super().data_received(data)
        if not self.handshake_initiated and self.conn.handshake_exc is not None:
            self._failed = True
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
        if not self.handshake_complete or self.close_sent:
            return
        extensions: dict[str, Any] = self.scope["extensions"]
        resize = extensions.get(ARRIVING_EXTENSION)
        try:
            if resize is not None:
                resize(self._unfinished)
        except Overloaded as error:
            self.conn.fail(_TRY_AGAIN_LATER, error.code)
            self.handle_parser_exception()

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[ABORT_EXTENSION] = self.transport.abort

    def handle_parser_exception(self) -> None:
        """Send the close frame and read on for a moment.

        To close a socket with unread bytes resets it (RFC 1122, 4.2.2.13), and the peer, still
        sending, would never see the code.
        """
        closing = self.conn.close_sent
        if closing is None or self._failed:
            return
        self._failed = self.close_sent = True
        self.queue.put_nowait(
            {"type": "websocket.disconnect", "code": closing.code, "reason": closing.reason}
        )
        self.transport.write(b"".join(self.conn.data_to_send()))
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        # A peer waits for our end of the stream before it closes its own.
        if self.transport.can_write_eof():
            self.transport.write_eof()
        # uvicorn closes at the application's end unless this timer is set.
        self.close_timer = self.loop.call_later(UNREAD_SECONDS, self.transport.close)

    def send_receive_event_to_app(self) -> None:
        super().send_receive_event_to_app()
        self._unfinished = 0

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            # Refused with a whole response; uvicorn would report a handshake without an end.
            self.handshake_complete = True

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)


def limits_of_frames(max_frame_bytes: int) -> dict[str, Any]:
    """Settings of uvicorn for WebSockets whose messages have at most ``max_frame_bytes``.

    Hidden states do not compress, so compression would only cost time.
    """
    return {
        "ws": BoundedWebSocket,
        "ws_max_size": max_frame_bytes,
        "ws_per_message_deflate": False,
        "ws_ping_interval": 20.0,
        # A client without threads answers no ping while its user types.
        "ws_ping_timeout": 300.0,
    }
