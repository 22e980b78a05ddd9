"""Counts of the workers that each principal cost of late: ended sessions are soon replaced."""

from __future__ import annotations

import time
from collections.abc import Callable

from split_server.adapter_host.errors import WorkersSpent


class Strikes:
    """``limit``: workers that a principal may cost at once; one is forgiven each ``seconds``.

    At most ``principals`` are kept: the one with the fewest strikes makes room.
    """

    def __init__(
        self,
        limit: int,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        principals: int = 1024,
    ) -> None:
        self._limit, self._seconds, self._clock = limit, seconds, clock
        self._principals = principals
        # When the last strike of each will be forgiven.
        self._until: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._until)

    def admit(self, principal: str) -> None:
        """Raises WorkersSpent while the principal has ``limit`` strikes or more."""
        # A whole strike must be forgiven before the next query.
        wait = self._left(principal) - (self._limit - 1) * self._seconds
        if wait > 0:
            raise WorkersSpent(wait)

    def add(self, principal: str) -> None:
        """A worker was lost while it computed for this principal."""
        until = self._clock() + self._left(principal) + self._seconds
        self._forget()
        self._until[principal] = until

    def _left(self, principal: str) -> float:
        return max(0.0, self._until.get(principal, 0.0) - self._clock())

    def _forget(self) -> None:
        now = self._clock()
        self._until = {name: until for name, until in self._until.items() if until > now}
        if len(self._until) >= self._principals:
            del self._until[min(self._until, key=self._until.__getitem__)]
