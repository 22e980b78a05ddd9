"""Places for generations: how many run at a time, and how many may wait for that."""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from typing import TypeAlias

from split_wire.errors import Overloaded

_RETRY_SECONDS = 2.0
_Waiter: TypeAlias = "asyncio.Future[None]"


class Places:
    """``running``: at a time; ``waiting``: that may wait for a place; ``spare``: places beyond
    those for principals of whom none runs, whatever others do.

    A place goes to whoever of those that wait has the fewest, principals in turn. Lives on the
    event loop.
    """

    def __init__(self, running: int, waiting: int, spare: int = 0) -> None:
        self.most, self._most_waiting, self._spare = running, waiting, spare
        self._held: Counter[str] = Counter()
        # The principal whose turn was longest ago first.
        self._queues: OrderedDict[str, deque[_Waiter]] = OrderedDict()

    @property
    def running(self) -> int:
        """Places that are taken."""
        return self._held.total()

    @property
    def waiting(self) -> int:
        """Generations that wait for a place."""
        return sum(map(len, self._queues.values()))

    async def take(self, principal: str) -> None:
        """Wait for a place; :meth:`leave` it afterwards.

        Raises Overloaded when too many wait, also later where the principal has the most of them
        and another one comes.
        """
        if self._is_free(principal):
            self._held[principal] += 1
            return
        if self.waiting >= self._most_waiting:
            self._send_away(principal)
        waiter: _Waiter = asyncio.get_running_loop().create_future()
        self._queues.setdefault(principal, deque()).append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.leave(principal)
            else:
                self._forget(principal, waiter)
            raise

    def leave(self, principal: str) -> None:
        """Give a place to the next one."""
        self._held[principal] -= 1
        if not self._held[principal]:
            del self._held[principal]
        if principal in self._queues:
            self._queues.move_to_end(principal)
        while (following := self._next()) is not None:
            waiter = self._queues[following].popleft()
            self._turned(following)
            self._held[following] += 1
            waiter.set_result(None)

    def _is_free(self, principal: str) -> bool:
        own = 0 if self._held[principal] else self._spare
        return self.running < self.most + own

    def _next(self) -> str | None:
        fewest = sorted(self._queues, key=self._held.__getitem__)
        return next(filter(self._is_free, fewest), None)

    def _send_away(self, principal: str) -> None:
        """Make room for one more that waits. Raises Overloaded."""
        error = Overloaded(f"{self.waiting} generations are waiting", _RETRY_SECONDS)
        longest = max(self._queues, key=lambda one: len(self._queues[one]), default=principal)
        if len(self._queues.get(longest, ())) <= len(self._queues.get(principal, ())) + 1:
            raise error
        self._queues[longest].pop().set_exception(error)

    def _forget(self, principal: str, waiter: _Waiter) -> None:
        queue = self._queues.get(principal)
        if queue is not None and waiter in queue:
            queue.remove(waiter)
            if not queue:
                del self._queues[principal]

    def _turned(self, principal: str) -> None:
        if self._queues[principal]:
            self._queues.move_to_end(principal)
        else:
            del self._queues[principal]
