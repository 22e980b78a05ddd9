"""Errors of files that are not opened or not read on, as the system's own errors are."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import ClassVar


class FileRefused(OSError):
    """Base of the tree; ``code`` is stable, ``strerror`` the reason, ``filename`` the path."""

    code: ClassVar[str] = "file_refused"
    number: ClassVar[int] = errno.EINVAL

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(self.number, reason, str(path))


class NotRegularFile(FileRefused):
    """A pipe, socket, device or folder; where a lock is to be, also a symbolic link."""

    code = "not_regular_file"

    def __init__(self, path: Path, reason: str = "it is not a regular file") -> None:
        super().__init__(path, reason)


class FileTooLarge(FileRefused):
    """More bytes than the reader allows."""

    code = "file_too_large"
    number = errno.EFBIG

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path, f"it is larger than {limit} bytes")


class LockReplaced(FileRefused):
    """The file of a lock is removed again and again, so that it locks nothing."""

    code = "lock_replaced"

    def __init__(self, path: Path) -> None:
        super().__init__(path, "another program keeps removing it; end that program")
