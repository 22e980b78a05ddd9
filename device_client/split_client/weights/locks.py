"""Locks on a stored model: advisory, between the processes that use it (flock).

Users share a lock, pulling and removing want it alone. The system releases it when a process ends,
however it ends.
"""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import IO, Any

from split_client.errors import ModelInUse


class Lock:
    """A held lock; release it with :meth:`release`."""

    def __init__(self, path: Path, digest: str, *, exclusive: bool) -> None:
        """Take the lock at ``path`` without waiting. Raises ModelInUse, OSError."""
        self._file: IO[Any] = path.open("ab")
        kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        try:
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise ModelInUse(digest) from error
        except BaseException:
            self._file.close()
            raise

    def release(self) -> None:
        """Give the lock back; safe to call twice."""
        self._file.close()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
