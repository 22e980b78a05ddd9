"""uvicorn's protocol of WebSockets, with the limits on a peer that it lacks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.typing import StatusLike

from split_server.http.wire.doors import Place
from split_server.http.wire.inlet import SMALL_FRAME, Inlet
from split_server.http.wire.sockets import ARRIVING_EXTENSION, PACE_EXTENSION
from split_server.security.authenticate import ADMITTED_EXTENSION
from split_server.security.hanging_up import ABORT_EXTENSION, reset
from split_wire.errors import Overloaded

LINGER_SECONDS = 15.0
UNREAD_SECONDS = 5.0
# 4 KB each make the largest messages there are, in proxies that cut them that small.
MAX_FRAGMENTS = 4096


class _Connection(ServerProtocol):
    """Refuses a handshake without repeating what was sent, which may hold a token.

    ``small_frames``: how many there were so far; ``fragments``: those of the latest message.
    ``writable``: whether pings are answered.
    """

    small_frames = 0
    fragments = 0
    writable = True

    def recv_frame(self, frame: Frame) -> None:
        if len(frame.data) < SMALL_FRAME:
            self.small_frames += 1
        if frame.opcode is Opcode.CONT:
            self.fragments += 1
        elif frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            self.fragments = 1
        super().recv_frame(frame)

    def send_frame(self, frame: Frame) -> None:
        # The pongs of a peer that reads nothing would pile up.
        if self.writable or frame.opcode is not Opcode.PONG:
            super().send_frame(frame)

    def reject(self, status: StatusLike, text: str) -> Response:  # noqa: ARG002
        return super().reject(status, f"{HTTPStatus(status).phrase}\n")


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A peer that answers no ping, or reads nothing of what is left to send, is cut off, and so is
    one whose handshake cannot be parsed, which uvicorn would keep.

    Bytes of a message that is not whole yet are counted with those of the principal's other
    sockets; at the limit the socket is closed with 1013. A message has at most 4,096 fragments,
    and what arrives is parsed in small pieces, at a pace that the principal's sockets share.
    """

    conn: _Connection
    _inlet: Inlet
    _unfinished = 0
    _failed = False

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._place = place
        self.conn = _Connection(max_size=config.ws_max_size, logger=self.logger)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._inlet = Inlet(cast("asyncio.Transport", transport), self._parse, self.loop)
        super().connection_made(cast("asyncio.Transport", self._inlet))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._place is not None:
            self._place.leave()
        self._inlet.drop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._inlet.take(data)

    def _parse(self, data: bytes) -> int:
        """How many small frames were in a piece of what has arrived."""
        before = self.conn.small_frames
        self._received(data)
        return self.conn.small_frames - before

    def _received(self, data: bytes) -> None:
        if self._failed:
            return
        self._unfinished += len(data)
        self.conn.writable = self.writable.is_set()
        super().data_received(data)
        if not self.handshake_initiated and self.conn.handshake_exc is not None:
            self._failed = True
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
        if not self.handshake_complete or self.close_sent:
            return
        if self.conn.fragments > MAX_FRAGMENTS:
            self._fail(CloseCode.POLICY_VIOLATION, "too_many_fragments")
            return
        extensions: dict[str, Any] = self.scope["extensions"]
        self._inlet.shared = extensions.get(PACE_EXTENSION)
        resize = extensions.get(ARRIVING_EXTENSION)
        try:
            if resize is not None:
                resize(self._unfinished)
        except Overloaded as error:
            self._fail(CloseCode.TRY_AGAIN_LATER, error.code)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[ABORT_EXTENSION] = partial(reset, self.transport)
            if self._place is not None:
                extensions[ADMITTED_EXTENSION] = self._place.know

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

    def _fail(self, code: CloseCode, reason: str) -> None:
        self.conn.fail(code, reason)
        self.handle_parser_exception()

    def send_receive_event_to_app(self) -> None:
        self._unfinished = 0
        if self.curr_msg_data_type == "text" and not _is_utf8(self.frames):
            self.frames = []
            self._fail(CloseCode.INVALID_DATA, "not_utf8")
            return
        super().send_receive_event_to_app()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()

    async def receive(self) -> Any:
        if self.queue.qsize() > 1:
            # Whoever sends many messages at once has them answered in turn with the others'.
            await asyncio.sleep(0)
        return await super().receive()

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.accept":
            # It may have come before it was known what is served.
            self.conn.max_message_size = self.config.ws_max_size
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            # Refused with a whole response; uvicorn would report a handshake without an end.
            self.handshake_complete = True

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)


def _is_utf8(parts: Sequence[bytes]) -> bool:
    try:
        b"".join(parts).decode()
    except UnicodeDecodeError:
        return False
    return True
