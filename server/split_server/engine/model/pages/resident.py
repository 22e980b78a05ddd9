"""Memory of this process that belongs to no file and is there as a whole.

For weights whose place a library does not tell: just after loading, what is there is weights and
the little that loading left on the heap.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

_MAPS = Path("/proc/self/maps")
# Whether all pages of so many bytes from an address on are there.
There: TypeAlias = Callable[[int, int], bool]


def resident_pages(size: int, maps: str | None = None, there: There | None = None) -> list[int]:
    """Addresses of the pages of ``size`` bytes that anonymous memory fills, in order; all of each
    is there, so that a huge page in its place takes no more memory.

    ``maps``: proc_pid_maps(5). Where a system has none there are no pages.
    """
    if maps is None:
        maps = _read_maps()
    there = there or _there()
    return [
        page
        for begin, end in _anonymous(maps)
        for page in range(-(-begin // size) * size, end // size * size, size)
        if there(page, size)
    ]


def _read_maps() -> str:
    try:
        return _MAPS.read_text() if sys.platform.startswith("linux") else ""
    except OSError:
        return ""


def _anonymous(maps: str) -> Iterator[tuple[int, int]]:
    """Private and writable ranges: of no file, or the heap."""
    for line in maps.splitlines():
        place, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            begin, end = (int(bound, 16) for bound in place.split("-"))
            yield begin, end


def _there() -> There:
    """By mincore(2), whose vector has a byte for each page."""
    library = ctypes.CDLL(None, use_errno=True)
    library.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)

    def there(begin: int, length: int) -> bool:
        pages = ctypes.create_string_buffer(length // mmap.PAGESIZE)
        refused = library.mincore(begin, length, pages)
        return not refused and all(byte & 1 for byte in pages.raw[: len(pages)])

    return there
