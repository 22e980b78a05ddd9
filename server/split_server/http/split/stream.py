"""``/api/v1/split/stream``: a WebSocket whose subprotocol chooses the protocol spoken on it."""

from __future__ import annotations

from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send

from split_server.error_reports import report_error
from split_server.http.split.post import FrameHandler, OriginalHandler
from split_server.http.wire.errors import BadRequest
from split_server.http.wire.sockets import SocketPart, TrackedSocket
from split_server.security.principal import principal_of
from split_wire.codec import encode_message
from split_wire.errors import MalformedFrame, ShuttingDown, SplitError
from split_wire.messages import SUBPROTOCOL, Failure

STREAM_PATH = "/api/v1/split/stream"


class Stream:
    """An ASGI application for the stream path."""

    def __init__(
        self, service: FrameHandler, original: OriginalHandler, sockets: SocketPart
    ) -> None:
        self._service = service
        self._original = original
        self._sockets = sockets

    def routes(self) -> list[WebSocketRoute]:
        """The stream path."""
        return [WebSocketRoute(STREAM_PATH, self)]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket until it closes. Raises what is refused before it is accepted."""
        offered = scope["subprotocols"]
        if offered and SUBPROTOCOL not in offered:
            raise BadRequest(
                f"the subprotocol is {SUBPROTOCOL}; offer it, or none for the original protocol"
            )
        if self._sockets.draining:
            raise ShuttingDown
        principal = principal_of(scope)
        with self._sockets.enter(principal, scope, receive, send) as websocket:
            if not offered:
                await self._original.websocket(principal, websocket)
                return
            await websocket.accept(SUBPROTOCOL)
            await answer_frames(self._service, principal, websocket)


async def answer_frames(service: FrameHandler, principal: str, websocket: TrackedSocket) -> None:
    """Have ``service`` answer the messages of an accepted socket until it closes."""
    while (message := await websocket.receive())["type"] == "websocket.receive":
        try:
            reply = await _answer(service, principal, websocket, message.get("bytes"))
        except SplitError as error:
            report_error(error.code, "frame")
            reply = encode_message(Failure.of(error))
        await websocket.send_bytes(reply)


async def _answer(
    service: FrameHandler, principal: str, websocket: TrackedSocket, frame: bytes | None
) -> bytes:
    if frame is None:
        raise MalformedFrame("text where a binary frame is expected")
    with websocket.holding(len(frame)):
        return (await service.handle(principal, frame)).frame
