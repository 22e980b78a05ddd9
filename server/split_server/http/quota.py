"""How much of something one principal may hold at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from split_wire.errors import Overloaded


class Quota:
    """At most ``limit`` of ``what`` per principal."""

    def __init__(self, limit: int, what: str) -> None:
        self._limit = limit
        self._what = what
        self._held: Counter[str] = Counter()

    @contextmanager
    def hold(self, principal: str) -> Iterator[None]:
        """Hold one for a while. Raises Overloaded."""
        if self._held[principal] >= self._limit:
            raise Overloaded(f"{self._limit} {self._what} are open for you")
        self._held[principal] += 1
        try:
            yield
        finally:
            self._held[principal] -= 1
            if not self._held[principal]:
                del self._held[principal]
