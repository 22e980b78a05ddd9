"""Wall time and processor time of one piece of work."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lap:
    """Milliseconds on the clock, and of all threads of this process on the processors."""

    ms: float
    cpu_ms: float

    @staticmethod
    def columns(laps: Sequence[Lap]) -> dict[str, list[float]]:
        """As a worker answers them."""
        return {"ms": [lap.ms for lap in laps], "cpu_ms": [lap.cpu_ms for lap in laps]}


def timed(work: Callable[[], object]) -> Lap:
    """Do ``work`` once."""
    begin, cpu = time.perf_counter(), time.process_time()
    work()
    return Lap(1e3 * (time.perf_counter() - begin), 1e3 * (time.process_time() - cpu))
