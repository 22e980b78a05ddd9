"""The lock of a ledger between processes: on a file beside it, and on the ledger's own file.

Either may be removed or replaced while somebody waits, and a lock on a file that has no name any
more keeps nobody out. So each is looked at again once it is held, and both are needed: whoever
makes a new lock file still meets the one who holds the ledger.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from split_client.noise.errors import LedgerBusy, LedgerFailed
from split_client.owner_file import reason
from split_files import open_regular

LOCK_SECONDS = 10.0
_LOCK_PAUSE = 0.01


@contextmanager
def locked(
    path: Path, clock: Callable[[], float], pause: Callable[[float], None]
) -> Iterator[None]:
    """Alone with the ledger at ``path``, for which its folder is made.

    The system gives the lock back however a process ends. Raises LedgerBusy, LedgerFailed.
    """
    deadline = clock() + LOCK_SECONDS

    def wait() -> None:
        if clock() >= deadline:
            raise LedgerBusy(path)
        pause(_LOCK_PAUSE)

    with ExitStack() as held:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = path.with_name(f"{path.name}.lock")
            held.enter_context(_held(lock, wait, make=True))
            with _there(path):
                held.enter_context(_held(path, wait))
        except OSError as error:
            raise LedgerFailed(path, reason(error)) from error
        yield


def _held(path: Path, wait: Callable[[], None], *, make: bool = False) -> IO[bytes]:
    """The file with the lock on it, and with this name. Raises OSError, LedgerBusy."""
    while True:
        file = _opened(path, make)
        if file is None:
            wait()
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still(file, path):
                return file
        except BlockingIOError:
            pass
        except BaseException:
            file.close()
            raise
        file.close()
        wait()


def _opened(path: Path, make: bool) -> IO[bytes] | None:
    """The file, made where it is to be made; None where somebody removed it at once."""
    if make:
        path.touch(mode=0o600)
    try:
        return open_regular(path)
    except FileNotFoundError:
        if make:
            return None
        raise


def _is_still(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _there(path: Path) -> Iterator[None]:
    """A ledger that does not exist yet has no file to be locked."""
    try:
        yield
    except FileNotFoundError:
        if path.exists():
            raise
