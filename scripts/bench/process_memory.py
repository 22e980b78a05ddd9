"""Private memory of a process over time, and whether it grows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

MB = 1e6


@dataclass(frozen=True, slots=True)
class Sample:
    """``seconds`` since the start; bytes: ``private`` in all, ``caches`` of them in K/V buffers."""

    seconds: float
    private: int
    caches: int


class MemoryWatch:
    """Reads the private memory of ``pid`` every ``period`` seconds until it is stopped.

    ``caches`` returns the bytes of the K/V buffers, those that wait for their next user included.
    """

    def __init__(self, pid: int, caches: Callable[[], int], period: float) -> None:
        self._pid, self._caches, self._period = pid, caches, period
        self._begin = time.monotonic()
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._samples = self._pool.submit(self._watch)

    def stop(self) -> list[Sample]:
        """The samples so far. Raises what reading them raised."""
        self._stop.set()
        self._pool.shutdown()
        return self._samples.result()

    def _watch(self) -> list[Sample]:
        samples = []
        while True:
            seconds = time.monotonic() - self._begin
            samples.append(Sample(seconds, unique_bytes(self._pid), self._caches()))
            if self._stop.wait(self._period):
                return samples


def unique_bytes(pid: int) -> int:
    """Private_Clean + Private_Dirty (Linux, proc(5), smaps_rollup): what its end would free."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    fields = ("Private_Clean:", "Private_Dirty:")
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(fields))


def slope(times: Sequence[float], sizes: Sequence[float]) -> float:
    """Rise of the least-squares line through the sizes over the times."""
    if not times:
        raise SystemExit("no sample of the memory is late enough; let it run longer")
    middle = sum(times) / len(times)
    level = sum(sizes) / len(sizes)
    spread = sum((x - middle) ** 2 for x in times)
    if not spread:
        raise SystemExit("one sample of the memory has no slope; let it run longer")
    rise = sum((x - middle) * (y - level) for x, y in zip(times, sizes, strict=True))
    return rise / spread
