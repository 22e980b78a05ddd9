"""Has the C library give large blocks back to the system as soon as they are freed."""

from __future__ import annotations

import ctypes
import sys

# <malloc.h> of the GNU C library.
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
# Buffers of a cache and the temporaries of a prefill are larger, those of a decode step smaller.
_OWN_MAPPING = 1 << 20
_ARENAS = 2


def give_back_large_blocks() -> bool:
    """Map every block of 1 MiB or more on its own; whether the C library can.

    Otherwise the GNU library raises that threshold up to 32 MiB by itself (mallopt(3)), and a
    freed cache stays with the process in holes between blocks that are still used: memory that
    neither the system nor a cache of another size can have.
    """
    libc = _gnu_library()
    if libc is None:
        return False
    return bool(
        libc.mallopt(_M_MMAP_THRESHOLD, _OWN_MAPPING) and libc.mallopt(_M_ARENA_MAX, _ARENAS)
    )


def _gnu_library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None
