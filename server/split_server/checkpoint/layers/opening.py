"""Files opened for reads that pass the page cache by, where their file system has them."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

DIRECT = getattr(os, "O_DIRECT", 0)


def opened_direct(path: Path) -> tuple[int, bool]:
    """The descriptor of a file, and whether its reads are direct. Raises OSError."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
    if DIRECT:
        try:
            return os.open(path, flags | DIRECT), True
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
    return os.open(path, flags), False


def make_plain(descriptor: int) -> None:
    """Have its reads go through the page cache. Raises OSError."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    fcntl.fcntl(descriptor, fcntl.F_SETFL, flags & ~DIRECT)
