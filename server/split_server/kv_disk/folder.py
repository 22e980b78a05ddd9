"""The folder of run files: its bytes stay within the budget, whoever else writes to it.

A file that is begun takes its whole size from then on. The lock is held for that, for eviction, and
while a file gets its name, so that a list under the lock has each file once; a count in its file
tells whether others have begun files meanwhile.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from split_client.owner_file import make_folder, reason
from split_files import open_regular, take_lock
from split_server.kv_disk.errors import DiskUnusable
from split_server.kv_disk.run_file import HEADER_BYTES, Header, is_run_file, parse_header

_LOCK, _TEMPORARY = "lock", ".tmp"
_COUNT_BYTES = 8
# Of the file system, which others need as well.
_FREE_SHARE, _MOST_FREE = 20, 1 << 30
# Between two lists, of the time that the first one took.
_LISTING_APART = 20


@dataclass(frozen=True, slots=True)
class Listed:
    """A run file: ``used`` in seconds since 1970, when it was written or read last."""

    name: str
    size: int
    used: float


class Folder:
    """``path`` is made where there is none; ``key_id`` of the files that are ours; ``clock`` in
    seconds.
    """

    def __init__(
        self, path: Path, key_id: bytes, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path, self._key_id, self._clock = path, key_id, clock
        # As it was when this server had the lock last; None while it never had.
        self._count: int | None = None
        # Its file while it is held, else none.
        self._lock = -1
        self._names, self._changed, self._kept_until = frozenset[str](), -1, float("-inf")

    def make(self) -> None:
        """Have the folder. Raises DiskUnusable."""
        try:
            make_folder(self.path)
        except OSError as error:
            raise DiskUnusable(self.path, reason(error)) from error

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Hold the lock; whether nobody else has begun a file since the last time. Raises OSError.

        Never makes the folder: where a disk is not mounted, its files would land on another one.
        """
        with take_lock(self.path / _LOCK) as lock:
            count = int.from_bytes(os.pread(lock.fileno(), _COUNT_BYTES, 0), "little")
            alone, self._count, self._lock = count == self._count, count, lock.fileno()
            try:
                yield alone
            except BaseException:
                self.look_again()
                raise
            finally:
                self._lock = -1

    def look_again(self) -> None:
        """Whoever has the lock next shall not rely on what is known."""
        self._count = None

    def free(self) -> int:
        """Bytes that may be taken of the file system. Raises OSError."""
        found = os.statvfs(self.path)
        kept = min(found.f_blocks * found.f_frsize // _FREE_SHARE, _MOST_FREE)
        return max(0, found.f_bavail * found.f_frsize - kept)

    def begin(self, size: int) -> tuple[Path, BinaryIO]:
        """A temporary file of ``size`` bytes, while :meth:`locked`. Raises OSError."""
        self._tell_others()
        path = self.path / f"{_TEMPORARY}{secrets.token_hex(8)}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        file = os.fdopen(os.open(path, flags, 0o600), "r+b", buffering=0)
        try:
            # Told from one that a killed process left behind.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(file.fileno(), size)
        except BaseException:
            file.close()
            path.unlink(missing_ok=True)
            raise
        return path, file

    def _tell_others(self) -> None:
        """Count one more; before it is begun, as what is killed in between must not be missed."""
        self._count = ((self._count or 0) + 1) % (1 << 8 * _COUNT_BYTES)
        os.pwrite(self._lock, self._count.to_bytes(_COUNT_BYTES, "little"), 0)

    def finish(self, path: Path, file: BinaryIO, data: memoryview, name: str) -> None:
        """Write ``data`` and give the file its ``name``, while not :meth:`locked`; it is whole or
        not there. Raises OSError, and then nothing is left of it.
        """
        try:
            with file:
                while data:
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
                # Who lists the folder meanwhile may find it under neither name.
                with take_lock(self.path / _LOCK):
                    path.rename(self.path / name)
        except BaseException:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            raise
        self._sync()

    def remove(self, name: str) -> bool:
        """Remove a run file; whether it is gone."""
        try:
            (self.path / name).unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def touch(self, name: str, now: float) -> None:
        """It is in use; nothing happens where that cannot be told."""
        with suppress(OSError):
            os.utime(self.path / name, (now, now))

    def listed(self) -> tuple[list[Listed], int]:
        """The run files, and the bytes of those that are being written; all of them are found while
        :meth:`locked`. Raises OSError.
        """
        found, writing = [], 0
        with os.scandir(self.path) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if is_run_file(entry.name) and entry.is_file(follow_symlinks=False):
                        status = entry.stat(follow_symlinks=False)
                        found.append(Listed(entry.name, status.st_size, status.st_mtime))
                    elif entry.name.startswith(_TEMPORARY):
                        writing += entry.stat(follow_symlinks=False).st_size
        return found, writing

    def names(self) -> frozenset[str]:
        """Of the run files, read again once the folder was changed, though not for long against the
        time in between. On one thread. Raises OSError.

        On a file system of the network they may be those of some seconds ago.
        """
        begun, changed = self._clock(), self.path.stat().st_mtime_ns
        if changed != self._changed and begun >= self._kept_until:
            with os.scandir(self.path) as entries:
                self._names = frozenset(one.name for one in entries if is_run_file(one.name))
            self._changed, ended = changed, self._clock()
            # Somebody may have filled it with files that are as small as can be.
            self._kept_until = ended + _LISTING_APART * (ended - begun)
        return self._names

    def remove_leftovers(self) -> None:
        """Remove what killed processes have begun, while :meth:`locked`. Raises OSError."""
        with os.scandir(self.path) as entries:
            begun = [entry.name for entry in entries if entry.name.startswith(_TEMPORARY)]
        for name in begun:
            # A lock that somebody has is a write under way.
            with suppress(OSError), self._opened(name) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                (self.path / name).unlink()

    def _opened(self, name: str) -> BinaryIO:
        """For writing, without which file systems of a network lock nothing. Raises OSError."""
        flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        return os.fdopen(os.open(self.path / name, flags), "r+b", buffering=0)

    def open(self, name: str) -> tuple[BinaryIO, Header, int]:
        """The run file of that name, its header and its size. Raises BadFile, ForeignFile, OSError;
        FileNotFoundError where there is none.
        """
        file = open_regular(self.path / name)
        try:
            size = os.fstat(file.fileno()).st_size
            header = parse_header(file.read(HEADER_BYTES), size, name, self._key_id)
        except BaseException:
            file.close()
            raise
        return file, header, size

    def _sync(self) -> None:
        handle = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
