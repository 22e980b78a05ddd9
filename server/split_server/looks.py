"""Looks at something slow, such as a file on a network: on a thread, one at a time, with patience.

Whoever waits on the event loop waits only so long, however long the look itself takes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from split_server.threads import Threads

PATIENCE = 0.5


class Looks:
    """``look`` is called on a thread called ``name`` and keeps what it found by itself; what it
    raises is not passed on. ``patience`` and ``clock`` in seconds. Lives on one event loop.
    """

    def __init__(
        self,
        name: str,
        look: Callable[[], object],
        patience: float = PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look, self._patience, self._clock = look, patience, clock
        self._threads = Threads(name, 1)
        self._under_way: asyncio.Future[object] | None = None

    def close(self) -> None:
        """End the thread after what it does; nothing is waited for."""
        self._threads.close()

    async def another(self) -> bool:
        """Whether a look that began from now on has ended well and in time."""
        deadline = self._clock() + self._patience
        # One that is under way may have passed what happened since it began.
        if self._under_way is not None and not await self._over(self._under_way, deadline):
            return False
        if self._under_way is None or self._under_way.done():
            self._under_way = asyncio.ensure_future(self._threads.run(self._look))
        mine = self._under_way
        return await self._over(mine, deadline) and _went_well(mine)

    async def _over(self, look: asyncio.Future[object], deadline: float) -> bool:
        await asyncio.wait([look], timeout=max(0.0, deadline - self._clock()))
        return look.done()


def _went_well(look: asyncio.Future[object]) -> bool:
    # Its exception is read, so that asyncio does not report it as lost.
    return not look.cancelled() and look.exception() is None
