"""Memory that this process holds, and the most that it held since a mark."""

from __future__ import annotations

import contextlib
import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

_STATM, _STATUS, _CLEAR_REFS = "/proc/self/statm", "/proc/self/status", "/proc/self/clear_refs"
# proc(5): 5 resets the high-water mark of the resident set.
_RESET_PEAK = "5"


@dataclass(frozen=True, slots=True)
class Usage:
    """Bytes. ``private``: resident and of this process alone; ``resident``: with shared pages.

    ``data``: private writable mappings, touched or not (what RLIMIT_DATA counts); ``size``: the
    address space (what RLIMIT_AS counts).
    """

    private: int
    resident: int
    data: int
    size: int


def process_usage(read: Callable[[str], str] = lambda path: Path(path).read_text()) -> Usage:
    """The memory that this process holds; one small read on Linux."""
    try:
        size, resident, shared, _, _, data, *_ = (int(field) for field in read(_STATM).split())
    except (OSError, ValueError):
        memory = psutil.Process().memory_info()
        return Usage(memory.rss, memory.rss, memory.rss, memory.vms)
    page = mmap.PAGESIZE
    return Usage((resident - shared) * page, resident * page, data * page, size * page)


class PeakMeter:
    """The rise of the resident set above a mark.

    The kernel keeps the peak, so that a workspace which is gone again is seen too; where it keeps
    none, the rise that is left at the end is what is known. ``counts_untouched``: whether memory
    counts as soon as it is allocated.
    """

    counts_untouched = False

    def __init__(self) -> None:
        self._before = 0

    def mark(self) -> None:
        """Measure from here."""
        reset_peak()
        self._before = process_usage().resident

    def risen(self) -> int:
        """Bytes of the highest rise since the mark."""
        peak = peak_resident()
        return (process_usage().resident if peak is None else peak) - self._before


class GpuPeakMeter(PeakMeter):
    """The rise above a mark of the memory that torch uses of a GPU."""

    counts_untouched = True

    def __init__(self, device: torch.device) -> None:
        super().__init__()
        self._device = device

    def mark(self) -> None:
        """Measure from here."""
        torch.cuda.reset_peak_memory_stats(self._device)
        self._before = torch.cuda.memory_allocated(self._device)

    def risen(self) -> int:
        """Bytes of the highest rise since the mark."""
        return int(torch.cuda.max_memory_allocated(self._device)) - self._before


def peak_meter(device: torch.device) -> PeakMeter:
    """The meter of the memory that passes on ``device`` take."""
    return GpuPeakMeter(device) if device.type == "cuda" else PeakMeter()


def reset_peak() -> None:
    """Let :func:`peak_resident` count from here, where the kernel can."""
    with contextlib.suppress(OSError):
        # Without truncation and creation, which the file does not know.
        file = os.open(_CLEAR_REFS, os.O_WRONLY)
        try:
            os.write(file, _RESET_PEAK.encode())
        finally:
            os.close(file)


def peak_resident() -> int | None:
    """The most bytes that were resident since the last reset, None where that is not known."""
    try:
        lines = Path(_STATUS).read_text().splitlines()
        (peak,) = [line for line in lines if line.startswith("VmHWM:")]
        return int(peak.split()[1]) * 1024
    except (OSError, ValueError):
        return None
