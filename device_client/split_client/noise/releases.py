"""The rows that a conversation has released, counted by one identity: sent again they cost nothing.

Kept in memory, and for a conversation whose key is kept also in a file beside the ledger: 16 bytes
for each row, which name it and tell nothing without the key. A file that is lost or cut makes rows
count twice, never too little: it is written after the ledger.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from split_client.noise.errors import LedgerFailed
from split_files import open_regular

NAME_BYTES = 16
# Beyond these, what was released longest ago is forgotten and counts again.
MOST_NAMES = 1 << 20
MOST_FILES = 1000


class Releases:
    """The releases under one key that ``identity`` has in the ledger."""

    def __init__(self, folder: Path, key: bytes, identity: str) -> None:
        self._path = folder / f"{_name_of(key, identity)}.bin"
        self._names: set[bytes] = set()
        self._kept = False

    def __contains__(self, name: bytes) -> bool:
        return name in self._names

    def add(self, names: list[bytes]) -> None:
        """Remember releases that the ledger has counted. Raises LedgerFailed."""
        if len(self._names) + len(names) > MOST_NAMES:
            self._names.clear()
        self._names.update(names)
        if self._kept:
            self._append(b"".join(names))

    def keep(self) -> None:
        """From now on across restarts, with what an earlier process wrote. Raises LedgerFailed."""
        if self._kept:
            return
        before = self._read()
        new = sorted(self._names - before)
        self._names |= before
        self._append(b"".join(new))
        self._kept = True

    def _read(self) -> set[bytes]:
        try:
            with open_regular(self._path) as file:
                data = file.read(MOST_NAMES * NAME_BYTES)
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise LedgerFailed(self._path, error.strerror or str(error)) from error
        whole = len(data) - len(data) % NAME_BYTES
        return {data[at : at + NAME_BYTES] for at in range(0, whole, NAME_BYTES)}

    def _append(self, data: bytes) -> None:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._path.exists():
                self._make_room()
                self._path.touch(mode=0o600)
            with self._path.open("r+b") as file:
                end = file.seek(0, 2)
                # A write that was cut would shift all names behind it.
                file.truncate(end - end % NAME_BYTES)
                file.seek(0, 2)
                file.write(data)
        except OSError as error:
            raise LedgerFailed(self._path, error.strerror or str(error)) from error

    def _make_room(self) -> None:
        files = sorted(self._path.parent.glob("*.bin"), key=lambda path: path.stat().st_mtime)
        for path in files[: max(0, len(files) - MOST_FILES + 1)]:
            path.unlink(missing_ok=True)


def _name_of(key: bytes, identity: str) -> str:
    whose = identity.encode("utf-8", "surrogatepass")
    return hashlib.shake_256(b"split noise releases 2" + key + whose).hexdigest(16)
