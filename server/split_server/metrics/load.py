"""Load: how much of its limits a server uses, as whoever adds or removes replicas asks.

Waiting counts against half a second: a step that waits longer is felt in every token.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

WINDOW_SECONDS = 15
SAMPLE_SECONDS = 1.0
_FULL_WAIT = 0.5
_BUCKETS = 20
_SHARE = 0.9


class _Second:
    __slots__ = ("counts", "second")

    def __init__(self, second: int) -> None:
        self.second = second
        # Of waits, by twentieths of the longest; one more takes the rest.
        self.counts = [0] * (_BUCKETS + 1)


class RecentWaits:
    """Waits of the last 15 seconds: one writer, and readers on any thread. ``clock`` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seconds = [_Second(-WINDOW_SECONDS - 1) for _ in range(WINDOW_SECONDS)]

    def observe(self, seconds: float) -> None:
        """Count a wait."""
        now = int(self._clock())
        place = now % WINDOW_SECONDS
        at = self._seconds[place]
        if at.second != now:
            at = self._seconds[place] = _Second(now)
        at.counts[min(_BUCKETS, int(seconds * _BUCKETS / _FULL_WAIT))] += 1

    def share(self) -> float:
        """What nine of ten waited at most, over half a second and no more than 1; rounded down to
        twentieths, and 0 where nobody waited.
        """
        oldest = int(self._clock()) - WINDOW_SECONDS
        recent = [list(at.counts) for at in list(self._seconds) if at.second > oldest]
        counts = [sum(column) for column in zip(*recent, strict=True)]
        wanted, below = _SHARE * sum(counts), 0
        for bucket, count in enumerate(counts):
            below += count
            if count and below >= wanted:
                return bucket / _BUCKETS
        return 0.0


class Load:
    """Lives on the event loop. ``shares``: of what there may be, how much there is."""

    def __init__(
        self,
        waits: RecentWaits,
        shares: Sequence[Callable[[], float]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._waits, self._shares = waits, shares
        self._clock = clock
        # By second, with the largest share that was seen in it.
        self._peaks: dict[int, float] = {}

    def sample(self) -> None:
        """Remember how it is; something asks for this every second."""
        now = int(self._clock())
        share = min(1.0, max(share() for share in self._shares))
        self._peaks[now] = max(share, self._peaks.get(now, 0.0))
        for second in [second for second in self._peaks if second <= now - WINDOW_SECONDS]:
            del self._peaks[second]

    def value(self) -> float:
        """0 to 1: the largest of all in the last 15 seconds."""
        self.sample()
        return round(max(*self._peaks.values(), self._waits.share()), 4)
