"""One change of a state file at a time, also between processes (flock)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from split_files import take_lock
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
        locked = take_lock(path)
    except OSError as error:
        raise StateUnusable(path, error.strerror or "cannot be written") from error
    with locked:
        yield
