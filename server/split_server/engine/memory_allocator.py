"""Has the C library give large blocks back to the system as soon as they are freed."""

from __future__ import annotations

import ctypes
import sys

# <malloc.h> of the GNU C library.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
# Most buffers of caches and the temporaries of a prefill are larger, those of a decode step are
# smaller: mapping them anew in each layer would cost more than the arithmetic.
_OWN_MAPPING = 256 << 10
# What the heap keeps at its end, so that it does not shrink and grow with every layer.
_KEPT_AT_END = 4 << 20
_ARENAS = 2


def give_back_large_blocks() -> bool:
    """Map every block of 256 KiB or more on its own; whether the C library can.

    Otherwise the GNU library raises that threshold up to 32 MiB by itself (mallopt(3)), and a
    freed cache stays with the process in holes between blocks that are still used: memory that
    neither the system nor a cache of another size can have.
    """
    libc = _gnu_library()
    if libc is None:
        return False
    wanted = {
        _M_MMAP_THRESHOLD: _OWN_MAPPING,
        _M_TRIM_THRESHOLD: _KEPT_AT_END,
        _M_ARENA_MAX: _ARENAS,
    }
    taken = [libc.mallopt(name, value) for name, value in wanted.items()]
    return all(taken)


def give_back_small_blocks() -> None:
    """Return the freed pages of the heap to the system, where the C library can (malloc_trim(3)).

    Takes about a millisecond for each 100 MB of heap: for when memory is short.
    """
    libc = _gnu_library()
    if libc is not None:
        libc.malloc_trim(0)


def _gnu_library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None
