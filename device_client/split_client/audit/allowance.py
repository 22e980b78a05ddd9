"""The time that an audit may take, and the parts of it that each piece of work gets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Clock = Callable[[], float]


class TimeUp(Exception):
    """The part of the time that the work at hand has is over; ends in :meth:`Allowance.part`."""


class Allowance:
    """``seconds`` from now on; None: as long as it takes. ``clock`` counts seconds, monotonic."""

    def __init__(self, seconds: float | None = None, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._end = math.inf if seconds is None else clock() + seconds

    @property
    def left(self) -> float:
        """Seconds that the work at hand has, at least 0."""
        return max(0.0, self._end - self._clock())

    def now(self) -> float:
        """The clock's."""
        return self._clock()

    def check(self) -> None:
        """Before each step that takes long. Raises TimeUp."""
        if self._clock() >= self._end:
            raise TimeUp

    @contextmanager
    def part(self, share: float) -> Iterator[None]:
        """Work that has this share of what is left and is broken off quietly after it.

        What it leaves over is there for what follows.
        """
        whole = self._end
        self._end = self._clock() + share * self.left
        try:
            yield
        except TimeUp:
            pass
        finally:
            self._end = whole
