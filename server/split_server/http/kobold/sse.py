"""``POST /api/extra/generate/stream``: a reply as server-sent events (WHATWG HTML, 9.2)."""

from __future__ import annotations

from contextlib import aclosing

from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from split_server.compat.kobold.documents import Documents, error_event
from split_server.compat.kobold.prompts import Prepared, Prompts
from split_server.compat.kobold.streaming import stream_reply
from split_server.http.kobold.aborts import Aborts
from split_server.http.kobold.answers import Posted, refusal, reported_error, unless_gone
from split_server.http.kobold.held import NO_STORE
from split_server.security.principal import principal_of

_HEADERS = {
    **NO_STORE,
    "Content-Type": "text/event-stream; charset=utf-8",
    # A proxy must not collect the events.
    "X-Accel-Buffering": "no",
}


class EventStream:
    """An ASGI application: what fails before the first token is a plain refusal."""

    def __init__(self, prompts: Prompts, posted: Posted, aborts: Aborts) -> None:
        self._prompts, self._posted, self._aborts = prompts, posted, aborts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises ClientDisconnect."""
        request, stream = Request(scope, receive), _Stream(send)
        documents: Documents | None = None
        try:
            principal = principal_of(scope)
            async with self._posted.values(request) as values:
                prepared = await self._prompts.prepare(principal, values)
            documents = prepared.documents
            work = self._tell(principal, prepared, stream)
            await unless_gone(receive, work)
            await stream.end()
        except ClientDisconnect:
            raise
        # The boundary of a request: its client is told in the form that it knows.
        except Exception as error:  # noqa: BLE001
            if documents is None or not stream.begun:
                await refusal(error)(scope, receive, send)
                return
            told = error_event(reported_error(error), documents.request.name)
            await stream.event(documents.sse_event(told))
            await stream.end()

    async def _tell(self, principal: str, prepared: Prepared, stream: _Stream) -> None:
        documents = prepared.documents
        with self._aborts.entered(principal, prepared.request.key) as running:
            async with (
                aclosing(self._prompts.run(principal, prepared)) as items,
                aclosing(running.until(items)) as wanted,
            ):
                await stream_reply(
                    wanted,
                    documents,
                    documents.sse_token,
                    stream.event,
                    lambda event: stream.event(documents.sse_event(event)),
                )


class _Stream:
    """The answer; its status goes out with the first event."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False

    async def event(self, data: bytes) -> None:
        """Send one event of one line; its type is the one that events without a name have, for
        clients that look for the name.
        """
        await self._begin()
        await self._send(
            {
                "type": "http.response.body",
                "body": b"".join((b"event: message\ndata: ", data, b"\n\n")),
                "more_body": True,
            }
        )

    async def end(self) -> None:
        """No event follows."""
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self) -> None:
        if self.begun:
            return
        self.begun = True
        headers = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
