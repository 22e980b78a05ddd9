"""A histogram with fixed bounds: one writer, and readers on any thread."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

# From a decode step of a small model to a prompt that a slow machine works on for a minute.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# Nats a token; shares of a state's norm.
DIFFERENCES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
# Sessions of one pass.
SESSIONS = (1, 2, 4, 8, 16, 32, 64)


class Histogram:
    """``bounds``: the largest value of each bucket, ascending; one more takes the rest."""

    __slots__ = ("_bounds", "_counts", "_total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._total = 0.0

    def observe(self, value: float) -> None:
        """Count ``value``."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._total += value

    def cumulative(self) -> list[tuple[str, int]]:
        """Values up to each bound; the last one, ``+Inf``, counts all of them."""
        names = [*(f"{bound:g}" for bound in self._bounds), "+Inf"]
        running, found = 0, []
        for name, count in zip(names, list(self._counts), strict=True):
            running += count
            found.append((name, running))
        return found

    @property
    def total(self) -> float:
        """The sum of all values."""
        return self._total
