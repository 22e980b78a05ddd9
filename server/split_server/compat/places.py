"""Places for generations: how many run at a time, and how many may wait for that."""

from __future__ import annotations

import asyncio

from split_wire.errors import Overloaded

_RETRY_SECONDS = 2.0


class Places:
    """``running``: at a time; ``waiting``: that may wait for a place. Lives on the event loop."""

    def __init__(self, running: int, waiting: int) -> None:
        self._places = asyncio.Semaphore(running)
        self._most_waiting = waiting
        self.running = 0
        self.waiting = 0

    async def take(self) -> None:
        """Wait for a place; :meth:`leave` it afterwards. Raises Overloaded when too many wait."""
        if self._places.locked() and self.waiting >= self._most_waiting:
            raise Overloaded(f"{self.waiting} generations are waiting", _RETRY_SECONDS)
        self.waiting += 1
        try:
            await self._places.acquire()
        finally:
            self.waiting -= 1
        self.running += 1

    def leave(self) -> None:
        """Give a place to the next one."""
        self.running -= 1
        self._places.release()
