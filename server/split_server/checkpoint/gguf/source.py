"""The bytes of a GGUF file, read within bounds from one descriptor.

Nothing is mapped: a mapping of a file that shrinks would end the process.
"""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path
from types import TracebackType
from typing import Any

from split_files import open_regular
from split_server.errors import MalformedCheckpoint

_CHUNK = 1 << 20


class Source:
    """``path``, open; ``size`` is its length in bytes. Raises MalformedCheckpoint, OSError."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._file = open_regular(path)
        self._state = self._read_state()
        self.size = self._state[0]

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def read(self, offset: int, count: int) -> bytes:
        """``count`` bytes at ``offset``. Raises MalformedCheckpoint."""
        if offset < 0 or count < 0 or offset + count > self.size:
            raise MalformedCheckpoint(
                f"{self.name} is cut short: it ends at byte {self.size}; fetch it again"
            )
        parts = bytearray()
        while len(parts) < count:
            part = os.pread(self._file.fileno(), count - len(parts), offset + len(parts))
            if not part:
                raise MalformedCheckpoint(
                    f"{self.name} became shorter while it was read; try again"
                )
            parts += part
        return bytes(parts)

    def digest(self) -> str:
        """SHA-256 of all bytes, hexadecimal."""
        found = hashlib.sha256()
        for start in range(0, self.size, _CHUNK):
            found.update(self.read(start, min(_CHUNK, self.size - start)))
        return found.hexdigest()

    def check_unchanged(self) -> None:
        """Raises MalformedCheckpoint when the file was written to since it was opened."""
        if self._read_state() != self._state:
            raise MalformedCheckpoint(f"{self.name} was changed while it was read; try again")

    def _read_state(self) -> tuple[int, int]:
        state = os.fstat(self._file.fileno())
        return state.st_size, state.st_mtime_ns


class Cursor:
    """Reads a source from its beginning, a megabyte ahead."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._buffer, self._at, self._start = b"", 0, 0

    @property
    def offset(self) -> int:
        """Of the next byte, in the file."""
        return self._start + self._at

    def take(self, count: int) -> bytes:
        """The next bytes. Raises MalformedCheckpoint."""
        end = self._at + count
        if end > len(self._buffer):
            self._fill(count)
            end = count
        part = self._buffer[self._at : end]
        self._at = end
        return part

    def unpack(self, form: struct.Struct) -> Any:
        """The next value of a form with one."""
        return form.unpack(self.take(form.size))[0]

    def skip(self, count: int) -> None:
        """Go ``count`` bytes on. Raises MalformedCheckpoint."""
        if self.offset + count > self._source.size:
            raise MalformedCheckpoint(f"{self._source.name} is cut short; fetch it again")
        if self._at + count <= len(self._buffer):
            self._at += count
        else:
            self._start, self._buffer, self._at = self.offset + count, b"", 0

    def _fill(self, count: int) -> None:
        start = self.offset
        ahead = min(max(count, _CHUNK), max(count, self._source.size - start))
        self._buffer, self._at, self._start = self._source.read(start, ahead), 0, start
