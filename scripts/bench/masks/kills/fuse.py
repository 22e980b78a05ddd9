"""A process that ends itself by SIGKILL at its n-th step: a call that changes a file or is sent."""

from __future__ import annotations

import fcntl
import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Journal:
    """Lines that are in the file when a call returns, whatever ends the process then."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, *fields: object) -> None:
        """One line, appended whole."""
        os.write(self._file, (" ".join(map(str, fields)) + "\n").encode())


class Fuse:
    """``after``: how many steps the process lives; 0: until somebody else ends it."""

    def __init__(self, after: int, journal: Journal) -> None:
        self._left, self._journal = after, journal

    def step(self, name: str) -> None:
        """A step, before which the process may end."""
        self._left -= 1
        if self._left == 0:
            self._journal.write("killed", name)
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, attribute: str, name: str) -> None:
        """Have ``owner.attribute`` be a step before it is called and another one after."""
        real: Callable[..., Any] = getattr(owner, attribute)

        def stepped(*args: Any, **options: Any) -> Any:
            self.step(f"before-{name}")
            made = real(*args, **options)
            self.step(f"after-{name}")
            return made

        setattr(owner, attribute, stepped)

    def around_files(self) -> None:
        """Everything that changes a file of ranges or of counts on its way to the disk."""
        self.around(tempfile, "mkstemp", "mkstemp")
        self.around(os, "fsync", "fsync")
        self.around(os, "replace", "replace")
        self.around(fcntl, "flock", "flock")
