"""How fast a disk reads, measured on files that lie there."""

from __future__ import annotations

import mmap
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from split_server.checkpoint.layers.opening import opened_direct

_READ_BYTES = 32 << 20
_MOST_BYTES, _MOST_SECONDS = 512 << 20, 0.5


def read_speed(files: Sequence[Path], clock: Callable[[], float] = time.perf_counter) -> float:
    """Bytes a second of reads past the page cache, half a second of them; 0 where the largest of
    ``files`` cannot be read so.
    """
    largest = max(files, key=lambda file: file.stat().st_size, default=None)
    if largest is None:
        return 0.0
    try:
        descriptor, direct = opened_direct(largest)
    except OSError:
        return 0.0
    try:
        return _measured(descriptor, clock) if direct else 0.0
    except OSError:
        return 0.0
    finally:
        os.close(descriptor)


def _measured(descriptor: int, clock: Callable[[], float]) -> float:
    buffer = memoryview(mmap.mmap(-1, _READ_BYTES))
    begun, read = clock(), 0
    while read < _MOST_BYTES and clock() - begun < _MOST_SECONDS:
        count = os.preadv(descriptor, [buffer], read)
        if count < _READ_BYTES:
            break
        read += count
    seconds = clock() - begun
    return read / seconds if seconds > 0 else 0.0
