"""Reads a request's body within a size, a time, and what its principal may have under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager

from starlette.requests import Request

from split_server.http.wire.errors import BadRequest, RequestTimeout
from split_server.http.wire.quota import Quota
from split_server.security.principal import principal_of
from split_wire.errors import FrameTooLarge

BODY_SECONDS = 60.0


class Bodies:
    """``quota``: bytes of messages that one principal may have under way; ``seconds``: for the
    whole of a body to arrive.
    """

    def __init__(self, quota: Quota, seconds: float = BODY_SECONDS) -> None:
        self._quota = quota
        self._seconds = seconds

    @asynccontextmanager
    async def taken(self, request: Request, limit: int) -> AsyncIterator[bytes]:
        """The whole body of at most ``limit`` bytes, counted until the end of the ``with``.

        A body that does not say its length counts as the longest. Raises FrameTooLarge and
        Overloaded before anything is read where the length is known, RequestTimeout, BadRequest.
        """
        with ExitStack() as held:
            yield await self.take(request, limit, held)

    async def take(self, request: Request, limit: int, held: ExitStack) -> bytes:
        """The whole body of at most ``limit`` bytes, counted until the end of ``held``.

        Raises what :meth:`taken` raises.
        """
        announced = _announced(request, limit)
        if announced > limit:
            raise FrameTooLarge(announced, limit)
        held.enter_context(self._quota.hold(principal_of(request.scope), announced))
        return await self._read(request, limit)

    async def _read(self, request: Request, limit: int) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(self._seconds):
                async for piece in request.stream():
                    body += piece
                    if len(body) > limit:
                        raise FrameTooLarge(len(body), limit)
        except TimeoutError:
            raise RequestTimeout(self._seconds) from None
        return bytes(body)


def _announced(request: Request, limit: int) -> int:
    """Bytes that the body may turn out to have."""
    if "transfer-encoding" in request.headers:
        return limit
    text = request.headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit()):
        raise BadRequest("Content-Length is not a number")
    return int(text[:20])
