"""Turns at something that only one can have at a time, in rotation between principals."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Whoever asks waits for one turn of each other principal at most, besides its own earlier
    ones. Lives on the event loop; who waits is bounded by what principals may have under way.
    """

    def __init__(self) -> None:
        self._taken = False
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, principal: str) -> AsyncIterator[None]:
        """Wait for a turn, and have it until the end of the ``with``."""
        await self.take(principal)
        try:
            yield
        finally:
            self.give_back()

    async def take(self, principal: str) -> None:
        """Wait for a turn, which is the caller's until :meth:`give_back`."""
        if self._taken:
            await self._wait(principal)
        self._taken = True

    async def _wait(self, principal: str) -> None:
        asked = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(principal, deque()).append(asked)
        try:
            await asked
        except asyncio.CancelledError:
            # Who was called and leaves before it knows passes its turn on.
            if not asked.cancelled():
                self.give_back()
            raise

    def give_back(self) -> None:
        """The turn goes to the principal that has waited longest since its last one."""
        while self._waiting:
            principal, asked = self._waiting.popitem(last=False)
            following = self._first(asked)
            if asked:
                self._waiting[principal] = asked
            if following is not None:
                following.set_result(None)
                return
        self._taken = False

    def _first(self, asked: deque[asyncio.Future[None]]) -> asyncio.Future[None] | None:
        """The first that still waits; those before it have left."""
        while asked:
            following = asked.popleft()
            if not following.done():
                return following
        return None
