"""How fast the disk of a folder reads, measured on files that lie there."""

from __future__ import annotations

import fcntl
import mmap
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from split_server.checkpoint.layers.opening import DIRECT, opened_direct

_READ_BYTES = 32 << 20
_MOST_BYTES, _MOST_SECONDS = 512 << 20, 0.5
_WRITTEN_BYTES = 4 * _READ_BYTES
Clock = Callable[[], float]


def folder_speed(folder: Path, files: Sequence[Path], clock: Clock = time.perf_counter) -> float:
    """Bytes a second of reads past the page cache, half a second of them, from the disk that
    ``folder`` is on or will be: of a file in it, else of those of ``files`` that are on that disk,
    else of some bytes that are written there for it; 0 where nothing can be read so.
    """
    place = folder.absolute()
    while not place.is_dir() and place != place.parent:
        place = place.parent
    with suppress(OSError):
        own = [path for path in folder.glob("*.layers") if path.is_file()]
        disk = place.stat().st_dev
        near = [path for path in files if path.stat().st_dev == disk]
        return read_speed(own, clock) or read_speed(near, clock) or _written_speed(place, clock)
    return 0.0


def read_speed(files: Sequence[Path], clock: Clock = time.perf_counter) -> float:
    """Bytes a second of reads past the page cache, half a second of them; 0 where the largest of
    ``files`` cannot be read so.
    """
    largest = max(files, key=lambda file: file.stat().st_size, default=None)
    if largest is None:
        return 0.0
    try:
        with _direct(largest) as descriptor:
            return _measured(descriptor, clock)
    except OSError:
        return 0.0


def _written_speed(folder: Path, clock: Clock) -> float:
    """Of a file that has no name, or none for long, and is gone whatever ends this process."""
    if not DIRECT:
        return 0.0
    with tempfile.TemporaryFile(dir=folder) as file:
        # Random, for file systems that keep zeros, or anything twice, in no room.
        file.write(os.urandom(_WRITTEN_BYTES))
        file.flush()
        os.fsync(file.fileno())
        flags = fcntl.fcntl(file.fileno(), fcntl.F_GETFL)
        fcntl.fcntl(file.fileno(), fcntl.F_SETFL, flags | DIRECT)
        return _measured(file.fileno(), clock)


@contextmanager
def _direct(path: Path) -> Iterator[int]:
    """The descriptor of a file whose reads are direct. Raises OSError where they are not."""
    descriptor, direct = opened_direct(path)
    try:
        if not direct:
            raise OSError(f"{path} is read through the page cache")
        yield descriptor
    finally:
        os.close(descriptor)


def _measured(descriptor: int, clock: Clock) -> float:
    buffer = memoryview(mmap.mmap(-1, _READ_BYTES))
    begun, read = clock(), 0
    while read < _MOST_BYTES and clock() - begun < _MOST_SECONDS:
        count = os.preadv(descriptor, [buffer], read)
        if count < _READ_BYTES:
            break
        read += count
    seconds = clock() - begun
    return read / seconds if seconds > 0 else 0.0
