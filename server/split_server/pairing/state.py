"""The folder in which a server keeps what must outlive it: keys, certificates, paired devices."""

from __future__ import annotations

from pathlib import Path

from split_client.owner_file import data_folder, write_whole
from split_files import read_regular
from split_server.pairing.errors import StateUnusable

MAX_BYTES = 1 << 20


def default_state() -> Path:
    """``server`` in the folder for data of this user."""
    return data_folder() / "server"


class StateFolder:
    """``path`` is made on the first write, for its owner alone."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_state()

    def file(self, name: str) -> Path:
        """The path of ``name``."""
        return self.path / name

    def read(self, name: str) -> bytes | None:
        """The bytes of a file, None when it is not there. Raises StateUnusable."""
        path = self.file(name)
        try:
            return read_regular(path, MAX_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StateUnusable(path, error.strerror or "cannot be read") from error

    def write(self, name: str, data: bytes) -> None:
        """Replace a file whole. Raises StateUnusable, and then the old one is still there."""
        path = self.file(name)
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, data)
        except OSError as error:
            raise StateUnusable(path, error.strerror or "cannot be written") from error

    def version(self, name: str) -> tuple[int, int, int] | None:
        """Changes whenever the file is replaced; None when it is not there."""
        try:
            found = self.file(name).stat()
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_ino, found.st_size)
