"""A file of a model on the disk, chunk by chunk: which are as the manifest says, and new ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from split_client.errors import ChecksumMismatch, DiskFull
from split_client.weights.manifest import FileEntry


class ChunkedFile:
    """The file of ``entry`` in the folder of its model."""

    def __init__(self, folder: Path, entry: FileEntry) -> None:
        self._folder, self._entry = folder, entry
        self._path = folder / entry.name

    def is_there(self) -> bool:
        return self._path.exists()

    def is_whole(self) -> bool:
        """Whether no chunk is damaged. Nothing is touched, since others may be using it."""
        return self._is_sound() and not any(self._broken())

    def damaged(self) -> list[int]:
        """The chunks that are missing or others; a file that cannot be mended is removed."""
        if not self._is_sound():
            self._path.unlink(missing_ok=True)
            return list(range(len(self._entry.chunks)))
        return [chunk for chunk, broken in enumerate(self._broken()) if broken]

    def keep(self, chunk: int, data: bytes) -> None:
        """Write a chunk. Raises ChecksumMismatch, DiskFull."""
        if sha256(data).hexdigest() != self._entry.chunks[chunk]:
            raise ChecksumMismatch(self._entry.name, chunk)
        with self._reported():
            self._path.touch()
            with self._path.open("r+b") as file:
                file.seek(self._entry.span(chunk)[0])
                file.write(data)

    def settle(self) -> None:
        """Bring a whole file to the disk, so that a power cut after a rename cannot empty it.

        Raises DiskFull.
        """
        with self._reported(), self._path.open("r+b") as file:
            os.fsync(file.fileno())

    def _is_sound(self) -> bool:
        path = self._path
        return path.is_file() and not path.is_symlink() and path.stat().st_size <= self._entry.size

    def _broken(self) -> Iterator[bool]:
        """Of each chunk, whether its bytes are others than the manifest names."""
        with self._path.open("rb") as file:
            for chunk, digest in enumerate(self._entry.chunks):
                start, length = self._entry.span(chunk)
                file.seek(start)
                yield sha256(file.read(length)).hexdigest() != digest

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise DiskFull(str(self._folder.parent), reason) from error
