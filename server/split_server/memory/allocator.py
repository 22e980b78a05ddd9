"""The heap of the C library, which keeps what is freed."""

from __future__ import annotations

import ctypes
import sys

# <malloc.h> of the GNU C library.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
# The temporaries of a prefill are larger, those of a decode step smaller.
_OWN_MAPPING = 256 << 10
# What the heap keeps at its end, so that it does not shrink and grow with every layer.
_KEPT_AT_END = 4 << 20


def share_one_heap() -> bool:
    """Let all threads allocate from one heap; whether the C library can.

    Otherwise the GNU library makes a heap for every thread that finds the others in use
    (mallopt(3), M_ARENA_MAX), up to eight per core, and what one thread frees in its own is of no
    use to the others: memory grows for hours with messages that one thread makes and another one
    drops. A heap that exists stays, so this comes before the threads.
    """
    libc = _gnu_library()
    return libc is not None and bool(libc.mallopt(_M_ARENA_MAX, 1))


def give_back_large_blocks() -> bool:
    """Map every block of 256 KiB or more on its own; whether the C library can.

    Otherwise the GNU library raises that size up to 32 MiB by itself (mallopt(3)), and several
    times the workspace of a pass stays with the process in holes between blocks. New pages for
    every block cost a prefill about a tenth of its time: for processes with a limit of their own.
    """
    libc = _gnu_library()
    if libc is None:
        return False
    wanted = {_M_MMAP_THRESHOLD: _OWN_MAPPING, _M_TRIM_THRESHOLD: _KEPT_AT_END}
    taken = [libc.mallopt(name, value) for name, value in wanted.items()]
    return all(taken) and share_one_heap()


def give_back_free_blocks() -> None:
    """Return the freed pages of the heap to the system, where the C library can (malloc_trim(3)).

    A pass leaves its workspace there for the next one. Takes milliseconds: for when memory is
    short.
    """
    libc = _gnu_library()
    if libc is not None:
        libc.malloc_trim(0)


def _gnu_library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None
