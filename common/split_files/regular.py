"""Regular files, opened without waiting and read within bounds."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from split_files.errors import FileTooLarge, NotRegularFile

# O_NONBLOCK: a pipe without a writer must not hold whoever opens it; regular files ignore it.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


def open_regular(path: Path) -> BinaryIO:
    """The regular file at ``path``, for reading; symbolic links are followed.

    Raises NotRegularFile, OSError.
    """
    # Opening a device may do something to it, so what is plainly none is not opened at all.
    require_regular(path.stat(), path)
    descriptor = os.open(path, _FLAGS)
    try:
        require_regular(os.fstat(descriptor), path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_regular(path: Path, limit: int) -> bytes:
    """The whole regular file at ``path``, at most ``limit`` bytes.

    Raises NotRegularFile, FileTooLarge, OSError.
    """
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > limit:
            raise FileTooLarge(path, limit)
        # It may grow while it is read.
        data = file.read(limit + 1)
    if len(data) > limit:
        raise FileTooLarge(path, limit)
    return data


def require_regular(status: os.stat_result, path: Path) -> None:
    """Raises NotRegularFile unless ``status``, that of ``path``, is a regular file's."""
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularFile(path)
