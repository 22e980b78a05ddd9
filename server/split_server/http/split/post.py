"""``POST /api/v1/split/forward``: one message in, one answer out, where WebSockets do not pass."""

from __future__ import annotations

from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from split_server.error_reports import report_error
from split_server.http.wire.body import Bodies
from split_server.http.wire.sockets import TrackedSocket
from split_server.security.principal import principal_of
from split_server.security.refusal import error_headers
from split_server.sessions.framed import Answer
from split_wire.codec import encode_message
from split_wire.errors import SplitError
from split_wire.messages import CONTENT_TYPE, Failure

FORWARD_PATH = "/api/v1/split/forward"


class FrameHandler(Protocol):
    """Answers one ``split.v1`` frame; never raises SplitError."""

    @property
    def max_frame_bytes(self) -> int: ...
    async def handle(self, principal: str, frame: bytes) -> Answer: ...


class OriginalRequests(Protocol):
    """Speaks the original JSON and binary protocol over HTTP."""

    async def http(self, principal: str, content_type: str, body: bytes) -> Response: ...


class OriginalHandler(OriginalRequests, Protocol):
    """Speaks it over either transport."""

    async def websocket(self, principal: str, websocket: TrackedSocket) -> None: ...


class Forward:
    """``body_limit``: bytes of a body of the original protocol."""

    def __init__(
        self,
        service: FrameHandler,
        original: OriginalRequests,
        bodies: Bodies,
        body_limit: int,
    ) -> None:
        self._service = service
        self._original = original
        self._bodies = bodies
        self._body_limit = body_limit

    def routes(self) -> list[Route]:
        """POST of the forward path."""
        return [Route(FORWARD_PATH, self.answer, methods=["POST"])]

    async def answer(self, request: Request) -> Response:
        """Dispatch on the content type. Raises what reading a body raises."""
        content_type = request.headers.get("content-type", "")
        if content_type.partition(";")[0].strip().lower() == CONTENT_TYPE:
            return _frame_response(await self._frame(request))
        async with self._bodies.taken(request, self._body_limit) as body:
            return await self._original.http(principal_of(request.scope), content_type, body)

    async def _frame(self, request: Request) -> Answer:
        try:
            async with self._bodies.taken(request, self._service.max_frame_bytes) as frame:
                return await self._service.handle(principal_of(request.scope), frame)
        except SplitError as error:
            report_error(error.code, "frame")
            return Answer(encode_message(Failure.of(error)), error)


def _frame_response(answer: Answer) -> Response:
    status, headers = 200, {"Cache-Control": "no-store"}
    if answer.error is not None:
        status = answer.error.status
        headers |= error_headers(answer.error)
    return Response(answer.frame, status, headers, CONTENT_TYPE)
