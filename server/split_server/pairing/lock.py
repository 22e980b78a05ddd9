"""One change of a state file at a time, also between processes (flock)."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from split_server.pairing.errors import StateUnusable
from split_server.pairing.state import StateFolder


@contextmanager
def held(state: StateFolder, name: str) -> Iterator[None]:
    """Wait for the lock of file ``name``, which the system releases when a process ends.

    Raises StateUnusable.
    """
    path = state.file(f"{name}.lock")
    try:
        state.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = path.open("ab")
    except OSError as error:
        raise StateUnusable(path, error.strerror or "cannot be written") from error
    with opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
