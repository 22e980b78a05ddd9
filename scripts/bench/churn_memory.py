"""Private memory of a process over time, and whether it grows."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MB = 1e6


@dataclass(frozen=True, slots=True)
class Sample:
    """``seconds`` since the start; ``private`` bytes."""

    seconds: float
    private: int


class MemoryWatch:
    """Reads the private memory of ``pid`` every ``period`` seconds until it is stopped."""

    def __init__(self, pid: int, period: float) -> None:
        self._pid, self._period = pid, period
        self._begin = time.monotonic()
        self._stop = threading.Event()
        self._samples: list[Sample] = []
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> list[Sample]:
        """The samples so far."""
        self._stop.set()
        self._thread.join()
        return self._samples

    def _watch(self) -> None:
        while True:
            seconds = time.monotonic() - self._begin
            self._samples.append(Sample(seconds, unique_bytes(self._pid)))
            if self._stop.wait(self._period):
                return


def unique_bytes(pid: int) -> int:
    """Private_Clean + Private_Dirty (Linux, proc(5), smaps_rollup): what its end would free."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    fields = ("Private_Clean:", "Private_Dirty:")
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(fields))


def slope(samples: Sequence[Sample]) -> float:
    """Bytes per second of the least-squares line through the samples."""
    times = [sample.seconds for sample in samples]
    middle = sum(times) / len(times)
    level = sum(sample.private for sample in samples) / len(samples)
    spread = sum((x - middle) ** 2 for x in times)
    if not spread:
        raise SystemExit("too few samples of the memory for a slope; let it run longer")
    rise = sum((s.seconds - middle) * (s.private - level) for s in samples)
    return rise / spread
