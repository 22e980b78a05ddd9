"""One log line per second for things that strangers can cause as often as they like."""

from __future__ import annotations

import time
from collections.abc import Callable


class Throttle:
    """``allow()`` is true at most once per ``seconds``; ``clock`` returns seconds."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._next = float("-inf")

    def allow(self) -> bool:
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + self._seconds
        return True
