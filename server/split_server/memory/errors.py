"""Exceptions that mean that memory ran out."""

from __future__ import annotations

import errno

import torch

# The texts of c10's allocators and of oneDNN, whose exceptions have no type of their own.
_TEXTS = ("can't allocate memory", "not enough memory", "could not create a memory", "bad_alloc")


def is_memory_error(error: BaseException) -> bool:
    """Whether ``error`` is one that an allocator raises on the CPU or a GPU."""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _TEXTS)
