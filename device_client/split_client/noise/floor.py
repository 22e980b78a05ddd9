"""The least that a ledger must count on this machine, kept apart from the ledger itself.

One small file for each ledger in this user's data folder: the number of its changes and the digest
of what it held then. It is written after the ledger and under its lock, so it is never above it; a
file that is lost or damaged is no floor. A whole disk that is turned back takes it along.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from split_client.owner_file import data_folder, make_folder
from split_files import open_regular

# No pipe is waited for, and no link leads to a file that is written over.
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
_DIGITS, _HEX = 20, 64
_BYTES = _DIGITS + 1 + _HEX + 1


@dataclass(frozen=True, slots=True)
class Floor:
    """``serial``: changes of the ledger so far; ``digest``: of its document after the last."""

    serial: int
    digest: str

    def holds(self, serial: int, digest: str) -> bool:
        """Whether a ledger as given goes on from here."""
        return serial > self.serial or (serial, digest) == (self.serial, self.digest)


class Floors:
    """The floors of one user."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._folder = data_folder(environ) / "noise-floors"

    def read(self, ledger: str) -> Floor | None:
        """That of the ledger with this name; None where there is none that can be read."""
        try:
            with open_regular(self._path(ledger)) as file:
                data = file.read(_BYTES + 1)
        except OSError:
            return None
        number, _, digest = data.decode("ascii", "replace").rstrip("\n").partition(" ")
        if len(data) != _BYTES or len(digest) != _HEX or not number.isdigit():
            return None
        return Floor(int(number), digest)

    def raise_to(self, ledger: str, floor: Floor) -> None:
        """From now on that ledger counts no less. Where it cannot be kept, nothing is noticed."""
        with contextlib.suppress(OSError):
            make_folder(self._folder)
            handle = os.open(self._path(ledger), _FLAGS, 0o600)
            try:
                # In place and in one piece: waiting for the disk again would gain little.
                os.pwrite(handle, f"{floor.serial:0{_DIGITS}} {floor.digest}\n".encode(), 0)
                os.ftruncate(handle, _BYTES)
            finally:
                os.close(handle)

    def _path(self, ledger: str) -> Path:
        return self._folder / f"{ledger}.floor"
