"""Processor time of another process, to the nanosecond where Linux tells it."""

from __future__ import annotations

import contextlib
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """Seconds that the threads of ``pid`` which are there now have run (schedstat, in ns; clock
    ticks of 10 ms would be longer than what is measured).
    """
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        # A thread may end while it is read.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9
