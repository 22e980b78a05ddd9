"""How much of something one principal may hold at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from split_wire.errors import Overloaded


class Quota:
    """At most ``limit`` of ``what`` (a count, or bytes) per principal."""

    def __init__(self, limit: int, what: str) -> None:
        self._limit = limit
        self._what = what
        self._held: Counter[str] = Counter()

    @contextmanager
    def hold(self, principal: str, amount: int = 1) -> Iterator[None]:
        """Hold ``amount`` for a while. Raises Overloaded."""
        if self._held[principal] + amount > self._limit:
            raise Overloaded(f"you may have {self._limit} {self._what} at a time")
        self._held[principal] += amount
        try:
            yield
        finally:
            self._held[principal] -= amount
            if not self._held[principal]:
                del self._held[principal]
