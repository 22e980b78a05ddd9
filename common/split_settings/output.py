"""Standard output of a command whose reader may leave early, as ``| head -1`` does."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

_FAILED = 1


def while_read(command: Callable[[], int]) -> int:
    """The exit status of ``command``; 1, without a word, once nobody reads its output any more."""
    try:
        try:
            return command()
        finally:
            # What is still buffered would fail only when the interpreter ends, with a traceback.
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
