"""Frames for a model that may not be there: they come in, and it is loaded for what needs it.

A socket is accepted before its model is loaded and outlives its going, so that devices wait for an
answer and not for a connection.
"""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import Receive, Scope, Send

from split_server.error_reports import report_error
from split_server.http.split.post import Forward
from split_server.http.split.stream import STREAM_PATH, answer_frames
from split_server.security.principal import principal_of
from split_server.serving.models.rooms import Rooms
from split_server.serving.models.shared import Shared
from split_server.sessions.framed import Answer
from split_wire.codec import decode_client_message, encode_message
from split_wire.errors import ShuttingDown, SplitError, UnknownSession
from split_wire.messages import SUBPROTOCOL, Failure, Open, Ping, Pong, Step
from split_wire.original.requests import MAX_JSON_BYTES


class Doorstep:
    """Answers the frames for the model ``name``, and requests of the original protocol over HTTP.

    Only an ``open`` has it loaded: it has no sessions while it is not there.
    """

    def __init__(self, name: str, rooms: Rooms, shared: Shared) -> None:
        self._name, self._rooms, self._shared = name, rooms, shared
        self._sockets = shared.sockets.part()

    @property
    def max_frame_bytes(self) -> int:
        """Of any model, since it is not known yet which this is."""
        return self._shared.max_message_bytes

    def routes(self) -> list[BaseRoute]:
        """Of frames over either transport."""
        body_limit = max(self.max_frame_bytes, MAX_JSON_BYTES)
        forward = Forward(self, self, self._shared.bodies, body_limit)
        return [*forward.routes(), WebSocketRoute(STREAM_PATH, self)]

    async def handle(self, principal: str, frame: bytes) -> Answer:
        """The answer to one frame; a refusal is one too."""
        session: str | None = None
        step: int | None = None
        try:
            room = self._rooms.loaded(self._name)
            if room is None:
                match decode_client_message(frame, self.max_frame_bytes):
                    case Ping():
                        return Answer(encode_message(Pong()))
                    case Step() as asked:
                        session, step = asked.session, asked.step
                        raise UnknownSession
                    case Open():
                        room = await self._rooms.room(self._name, principal)
                    case _:
                        raise UnknownSession
            with room.visited():
                return await room.parts.framed.handle(principal, frame)
        except SplitError as error:
            report_error(error.code, "frame")
            return Answer(encode_message(Failure.of(error, session, step)), error)

    async def http(self, principal: str, content_type: str, body: bytes) -> Response:
        """Raises what loading raises, and what the original protocol does."""
        room = await self._rooms.room(self._name, principal)
        with room.visited():
            return await room.parts.original.http(principal, content_type, body)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket of frames until it closes. Raises what is refused before that."""
        if self._sockets.draining:
            raise ShuttingDown
        principal = principal_of(scope)
        with self._sockets.enter(principal, scope, receive, send) as websocket:
            await websocket.accept(SUBPROTOCOL)
            await answer_frames(self, principal, websocket)
