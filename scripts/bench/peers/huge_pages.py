"""Huge pages under the memory of a program that does not ask for them.

Reads the standard library alone, so that it runs in the environments of peers.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from pathlib import Path

# https://man7.org/linux/man-pages/man2/madvise.2.html, Linux 6.1
_MADV_COLLAPSE = 25
_HUGE = 2 << 20


def collapse_anonymous() -> int:
    """Put the large anonymous ranges of this process on huge pages; bytes that were refused."""
    libc = ctypes.CDLL(None, use_errno=True)
    refused = 0
    for begin, end in list(_ranges(Path("/proc/self/maps").read_text())):
        for page in range(begin, end, _HUGE):
            address, size = ctypes.c_void_p(page), ctypes.c_size_t(_HUGE)
            if libc.madvise(address, size, _MADV_COLLAPSE):
                libc.madvise(address, size, mmap.MADV_HUGEPAGE)
                refused += _HUGE
    return refused


def _ranges(maps: str) -> Iterator[tuple[int, int]]:
    """Whole huge pages of the ranges in ``maps`` (proc(5)) that are writable and of no file."""
    for line in maps.splitlines():
        fields = line.split(maxsplit=5)
        named = len(fields) > 5 and fields[5] != "[heap]"
        if not fields[1].startswith("rw-p") or fields[4] != "0" or named:
            continue
        low, high = (int(number, 16) for number in fields[0].split("-"))
        begin, end = -(-low // _HUGE) * _HUGE, high // _HUGE * _HUGE
        if begin < end:
            yield begin, end
