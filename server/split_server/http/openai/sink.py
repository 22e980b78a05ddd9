"""The sink of the answer to one request: JSON, or a stream of parts.

The work on an answer ends when its reader is gone, whether it is being streamed or not.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from split_server.compat.openai.errors import ApiError
from split_server.error_reports import report_error
from split_server.http.openai.form import OPENAI_FORM, Form, encoded
from split_server.security.hanging_up import ABORT_EXTENSION
from split_wire.errors import ShuttingDown

STALL_SECONDS = 60.0
_JSON = "application/json"
# The rest of a body that was refused unread is not worth reading.
_BODY_UNREAD = ("request_too_large", "request_timeout")


class Sink:
    """Sends an answer in ``form``; a reader that takes nothing for ``stall`` seconds is cut off."""

    def __init__(
        self, scope: Scope, send: Send, stall: float = STALL_SECONDS, form: Form = OPENAI_FORM
    ) -> None:
        self._scope = scope
        self._send = send
        self._stall = stall
        self.form = form
        self._streaming = False

    async def json(self, document: Mapping[str, Any]) -> None:
        """The whole answer."""
        await self._whole(200, encoded(document), {})

    async def encoded(self, body: bytes) -> None:
        """The whole answer, of JSON that is encoded already."""
        await self._whole(200, body, {})

    async def start_events(self) -> None:
        """Begin a stream; an error is a part of it from here on."""
        self._streaming = True
        kind = self.form.stream_type
        await self._start(200, {"content-type": kind, "x-accel-buffering": "no"})

    async def events(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """One part for each of ``documents``."""
        body = b"".join(map(self.form.part, documents))
        if body:
            await self._body(body, more=True)

    async def done(self) -> None:
        """End the stream."""
        await self._body(self.form.end, more=False)

    async def fail(self, error: ApiError) -> None:
        """Tell ``error`` in whatever form is still possible."""
        report_error(error.code)
        if self._streaming:
            await self.events(self.form.failure(error))
            await self.done()
            return
        status, body = self.form.refusal(error)
        await self._whole(status, encoded(body), _error_headers(error))

    async def _whole(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        own = {"content-type": _JSON, "content-length": str(len(body))}
        await self._start(status, own | dict(headers))
        await self._body(body, more=False)

    async def _start(self, status: int, headers: Mapping[str, str]) -> None:
        named = {"cache-control": "no-store"} | dict(headers)
        raw = [(name.encode(), value.encode()) for name, value in named.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": raw})

    async def _body(self, body: bytes, more: bool) -> None:
        try:
            async with asyncio.timeout(self._stall):
                await self._send({"type": "http.response.body", "body": body, "more_body": more})
        except TimeoutError:
            # Closing waits for a reader that may never read.
            self._scope.get("extensions", {}).get(ABORT_EXTENSION, _nothing)()
            raise ReaderStalled from None


class ReaderStalled(Exception):
    """The reader took nothing for too long; its connection is gone."""


class LiveAnswer(Response):
    """Runs ``work`` with the sink of the request, until its reader is gone; then ``ended``."""

    def __init__(
        self,
        work: Callable[[Sink], Awaitable[None]],
        ended: Callable[[], None] | None = None,
        form: Form = OPENAI_FORM,
    ) -> None:
        super().__init__()
        self._work, self._ended, self.form = work, ended or _nothing, form

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        work = asyncio.ensure_future(self._work(Sink(scope, send, form=self.form)))
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # What has ended by itself stays as it ended.
            left = gone.done()
            work.cancel()
            gone.cancel()
            self._ended()
            await asyncio.wait({work, gone})
        if work.cancelled():
            if not left:
                raise ShuttingDown
        elif not isinstance(work.exception(), ReaderStalled):
            work.result()


def error_answer(error: ApiError, form: Form = OPENAI_FORM) -> Response:
    """The answer to a request that was refused before any work."""
    report_error(error.code)
    status, body = form.refusal(error)
    return Response(
        encoded(body),
        status,
        {"cache-control": "no-store"} | _error_headers(error),
        _JSON,
    )


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _error_headers(error: ApiError) -> dict[str, str]:
    headers = {}
    if error.retry_after is not None:
        headers["retry-after"] = str(max(1, math.ceil(error.retry_after)))
    if error.code in _BODY_UNREAD:
        headers["connection"] = "close"
    return headers


def _nothing() -> None:
    pass
