"""The heap of the C library: kept in one piece, and given back when memory is short."""

from __future__ import annotations

import ctypes
import sys

# <malloc.h> of the GNU C library.
_M_ARENA_MAX = -8


def keep_one_heap() -> bool:
    """Have all threads that are started later share one heap; whether the C library can.

    What is freed in the heap of another thread stays mapped for it alone (mallopt(3)); the end of
    the one that grows with brk(2) goes back to the system.
    """
    libc = _gnu_library()
    return libc is not None and bool(libc.mallopt(_M_ARENA_MAX, 1))


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
