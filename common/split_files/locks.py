"""Advisory locks (flock) on files that stay where they are and keep what is in them.

The file of a lock is never emptied, and no symbolic link is followed to it. Whoever waits for a
lock may get one on a file that was removed meanwhile, which locks nobody out; so the file that is
locked is compared with the one that has the name.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import BinaryIO

from split_files.errors import LockReplaced, NotRegularFile
from split_files.regular import require_regular

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_TRIES = 8


def take_lock(path: Path, *, exclusive: bool = True, wait: bool = True) -> BinaryIO:
    """The locked file, made for its owner alone (0600) where there is none; closing it unlocks.

    Raises BlockingIOError where another process has it and ``wait`` is false, NotRegularFile,
    LockReplaced, OSError.
    """
    kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
    for _ in range(_TRIES):
        file = _opened(path)
        try:
            fcntl.flock(file, kind if wait else kind | fcntl.LOCK_NB)
            if is_at(file, path):
                return file
        except BaseException:
            file.close()
            raise
        file.close()
    raise LockReplaced(path)


def is_at(file: BinaryIO, path: Path) -> bool:
    """Whether the opened ``file`` is still what lies at ``path``, links not followed."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    held = os.fstat(file.fileno())
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def _opened(path: Path) -> BinaryIO:
    try:
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as error:
        # EMLINK is what FreeBSD says of a link.
        if error.errno in (errno.ELOOP, errno.EMLINK) and path.is_symlink():
            raise NotRegularFile(path, "it is a symbolic link; remove it") from error
        raise
    try:
        require_regular(os.fstat(descriptor), path)
        return os.fdopen(descriptor, "r+b")
    except BaseException:
        os.close(descriptor)
        raise
