"""A clock on which delays are counted and the device's own work is measured."""

from __future__ import annotations

import time
from collections.abc import Callable


class CountedClock:
    """Seconds: those that were counted, and the processor time of the calling thread.

    What waits does not wait: :meth:`pass_by` counts. So the figures do not depend on what else the
    machine does, but for the device's own work.
    """

    def __init__(self, work: Callable[[], float] = time.thread_time) -> None:
        self._work, self._began, self._counted = work, work(), 0.0

    def __call__(self) -> float:
        """Seconds since the clock was made."""
        return self._counted + self._work() - self._began

    def pass_by(self, seconds: float) -> None:
        """Count ``seconds``."""
        self._counted += seconds
