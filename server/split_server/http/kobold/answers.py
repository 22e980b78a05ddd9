"""Shared parts of the Kobold routes: bodies in, JSON out, every failure in Kobold's form."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive

from split_client.errors import ClientError
from split_server.compat.kobold.errors import KoboldError, kobold_error
from split_server.compat.kobold.fields import json_object
from split_server.compat.turns import Turns
from split_server.error_reports import report_error
from split_server.http.kobold.held import JSON, NO_STORE, HeldAnswer
from split_server.http.wire.body import Bodies
from split_server.internal_error import internal_error
from split_server.memory.usage import process_usage
from split_server.security.principal import principal_of
from split_server.security.refusal import error_headers
from split_wire.errors import SplitError

_T = TypeVar("_T")
# Parsing and packing more than this would hold up the event loop for milliseconds.
LARGE = 256 * 1024
_GZIP_FROM = 16 * 1024
# Values that the encoder writes in about a millisecond.
_SLICE = 2048
# Text, and token ids of up to ten digits with what separates them.
_TEXT_BYTES, _TOKEN_BYTES = 1 << 20, 24


def body_limit(max_context: int) -> int:
    """Bytes of the longest request to a model of ``max_context``."""
    return _TEXT_BYTES + _TOKEN_BYTES * max_context


def reported_error(error: Exception) -> KoboldError:
    """Any failure as its client is told it; call it where the failure is handled."""
    if not isinstance(error, SplitError | ClientError):
        error = internal_error()
    known = kobold_error(error, lambda: process_usage().private)
    report_error(known.code)
    return known


def refusal(error: Exception) -> Response:
    """The answer to a request that failed; ``detail`` is where Kobold's own servers tell it."""
    known = reported_error(error)
    detail = {"msg": str(known), "type": known.code}
    content = dumped({**known.document(), "detail": detail})
    return Response(content, known.status, error_headers(known), JSON)


def dumped(values: dict[str, Any]) -> bytes:
    """A document as JSON."""
    return json.dumps(values).encode()


def dumped_list(values: Sequence[Any]) -> bytes:
    """A list as JSON, slice by slice: no other thread runs while the encoder is at work."""
    slices = (values[start : start + _SLICE] for start in range(0, len(values), _SLICE))
    return b"[" + b", ".join(json.dumps(part)[1:-1].encode() for part in slices) + b"]"


def document(content: bytes) -> Response:
    """An answer of JSON."""
    return Response(content, headers=NO_STORE, media_type=JSON)


async def parsed(data: bytes, max_context: int) -> dict[str, Any]:
    """The object in ``data``. Raises FrameTooLarge, InvalidRequest."""
    limit = body_limit(max_context)
    if len(data) < LARGE:
        return json_object(data, limit, max_context)
    return await asyncio.to_thread(json_object, data, limit, max_context)


class Posted:
    """Reads the JSON body of a request, under whatever content type it comes."""

    def __init__(self, bodies: Bodies, max_context: int, large: Turns) -> None:
        """``large``: one large body at a time, until its tokens are known."""
        self._bodies = bodies
        self._max_context = max_context
        self._large = large

    async def held(self, request: Request, held: ExitStack) -> dict[str, Any]:
        """The body, counted until the end of ``held``.

        Raises what reading it raises, InvalidRequest.
        """
        body = await self._bodies.take(request, body_limit(self._max_context), held)
        if len(body) >= LARGE:
            await self._large.take(principal_of(request.scope))
            held.callback(self._large.give_back)
        return await parsed(body, self._max_context)

    @asynccontextmanager
    async def values(self, request: Request) -> AsyncIterator[dict[str, Any]]:
        """The body, counted until the end of the ``with``. Raises what :meth:`held` raises."""
        with ExitStack() as held:
            yield await self.held(request, held)

    def endpoint(
        self, answer: Callable[[str, dict[str, Any], ExitStack], Awaitable[bytes]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """An endpoint whose body ``answer`` turns into JSON for its principal; what it holds
        is held until that is sent.
        """

        async def work(request: Request) -> Response:
            try:
                with ExitStack() as held:
                    values = await self.held(request, held)
                    content = await answer(principal_of(request.scope), values, held)
                    return HeldAnswer(content, held.pop_all())
            except ClientDisconnect:
                raise
            # The boundary of a request: its client is told in the form that it knows.
            except Exception as error:  # noqa: BLE001
                return refusal(error)

        return work


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, _T]) -> _T:
    """Return what ``work`` does; its client's leaving cancels it. Raises ClientDisconnect.

    The body must have been read.
    """
    task, gone = asyncio.create_task(work), asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def packed(request: Request, content: bytes) -> Response:
    """A JSON answer; a long one is compressed for clients that accept gzip."""
    headers = NO_STORE | {"Vary": "Accept-Encoding"}
    if len(content) < _GZIP_FROM or not _accepts_gzip(request):
        return Response(content, headers=headers, media_type=JSON)
    # The lightest level: what it leaves of base64 is little more than what the heaviest leaves.
    small = await asyncio.to_thread(gzip.compress, content, 1)
    return Response(small, headers=headers | {"Content-Encoding": "gzip"}, media_type=JSON)


def _accepts_gzip(request: Request) -> bool:
    offers = request.headers.get("accept-encoding", "").lower().split(",")
    for offer in offers:
        coding, _, weight = offer.replace(" ", "").partition(";q=")
        if coding == "gzip":
            return weight.strip("0.") != "" or not weight
    return False
