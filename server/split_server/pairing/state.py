"""The folder in which a server keeps what must outlive it: keys, certificates, paired devices.

Several servers may share it. What one of them replaces the others find by opening it: an opened
file is as new as its disk, also where a network's client remembers what it looked at.
"""

from __future__ import annotations

import os
from pathlib import Path

from split_client.owner_file import data_folder, write_whole
from split_files import open_regular, read_regular
from split_server.pairing.errors import StateUnusable

MAX_BYTES = 1 << 20


def default_state() -> Path:
    """``server`` in the folder for data of this user."""
    return data_folder() / "server"


class StateFolder:
    """``path`` is made on the first write, for its owner alone."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_state()
        # Names of files that were there once.
        self._seen: frozenset[str] = frozenset()

    def file(self, name: str) -> Path:
        """The path of ``name``."""
        return self.path / name

    def read(self, name: str) -> bytes | None:
        """The bytes of a file, None when it is not there. Raises StateUnusable."""
        path = self.file(name)
        try:
            data = read_regular(path, MAX_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateUnusable(path, error.strerror or "cannot be read") from error
        self._seen |= {name}
        return data

    def write(self, name: str, data: bytes, *, replace: bool = True) -> None:
        """Replace a file whole. Raises StateUnusable, and then the old one is still there; without
        ``replace`` FileExistsError where there is one.
        """
        path = self.file(name)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, data, replace=replace)
        except FileExistsError:
            if replace:
                raise StateUnusable(self.path, "it is not a folder") from None
            raise
        except OSError as error:
            raise StateUnusable(path, error.strerror or "cannot be written") from error
        self._seen |= {name}

    def remove(self, name: str) -> None:
        """Remove a file; nothing happens where there is none. Raises StateUnusable."""
        path = self.file(name)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StateUnusable(path, error.strerror or "cannot be removed") from error

    def version(self, name: str) -> tuple[int, int, int] | None:
        """Changes whenever the file is replaced; None when it is not there. Raises
        StateUnusable.
        """
        path = self.file(name)
        try:
            with open_regular(path) as file:
                found = os.fstat(file.fileno())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateUnusable(path, error.strerror or "cannot be read") from error
        return (found.st_mtime_ns, found.st_ino, found.st_size)

    def require_there(self) -> None:
        """Raise StateUnusable where nothing is left of what was in the folder before."""
        try:
            there = not self._seen or any(self.file(name).exists() for name in self._seen)
        except OSError as error:
            raise StateUnusable(self.path, error.strerror or "cannot be read") from error
        if not there:
            raise StateUnusable(self.path, "it is gone; is its disk mounted?")
