"""One change of a state file at a time, also between processes (flock)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from split_files import take_lock
from split_server.pairing.errors import StateUnusable
from split_server.pairing.state import StateFolder

# Seconds: far more than a change takes. A server that was stopped within one holds its lock on.
PATIENCE = 5.0
_PAUSE = 0.01


@contextmanager
def held(state: StateFolder, name: str) -> Iterator[None]:
    """Wait for the lock of file ``name``, which the system releases when a process ends.

    Raises StateUnusable, also where somebody else holds it for longer than a change takes.
    """
    path = state.file(f"{name}.lock")
    try:
        state.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        locked = _taken(path)
    except BlockingIOError as error:
        reason = f"another server holds it for longer than {PATIENCE:g} s; is one stopped?"
        raise StateUnusable(path, reason) from error
    except OSError as error:
        raise StateUnusable(path, error.strerror or "cannot be written") from error
    with locked:
        yield


def _taken(path: Path) -> BinaryIO:
    """Raises BlockingIOError, OSError."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return take_lock(path, wait=False)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(_PAUSE)
