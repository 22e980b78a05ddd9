"""Locks on a stored model: advisory, between the processes that use it (flock).

Users share a lock, pulling and removing want it alone. The system releases it when a process ends,
however it ends.
"""

from __future__ import annotations

from pathlib import Path

from split_client.errors import ModelInUse
from split_files import take_lock


class Lock:
    """A held lock; release it with :meth:`release`."""

    def __init__(self, path: Path, digest: str, *, exclusive: bool) -> None:
        """Take the lock at ``path`` without waiting. Raises ModelInUse, OSError."""
        try:
            self._file = take_lock(path, exclusive=exclusive, wait=False)
        except BlockingIOError as error:
            raise ModelInUse(digest) from error

    def release(self) -> None:
        """Give the lock back; safe to call twice."""
        self._file.close()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
