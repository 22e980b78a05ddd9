"""Bytes that the server hands out: slices of weight files and small texts, and their digests."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.errors import MalformedCheckpoint
from split_wire.errors import SplitError

CHUNK_BYTES = 8 * 1024 * 1024
_PROGRESS_SECONDS = 5.0
_log = logging.getLogger(__name__)

ReadAt = Callable[[int, int], bytes]


class WeightsChanged(SplitError):
    """A weights file is not the one that was hashed when the server started."""

    code = "weights_changed"
    status = 503

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} changed on the server's disk; restart the server to serve it")


class Source(Protocol):
    """Bytes of a known size. ``opened`` gives a function (offset, length) -> bytes for a while."""

    @property
    def size(self) -> int: ...

    def opened(self) -> AbstractContextManager[ReadAt]: ...


@dataclass(frozen=True, slots=True)
class TextSource:
    """Bytes held in memory, for what is small."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    @contextmanager
    def opened(self) -> Iterator[ReadAt]:
        yield lambda offset, length: self.data[offset : offset + length]


@dataclass(frozen=True, slots=True)
class FileSource:
    """``size`` bytes at ``offset`` of a file, which must stay the file it was."""

    path: Path
    offset: int
    size: int
    identity: tuple[int, int, int]

    @classmethod
    def of(cls, tensor: TensorSlice) -> FileSource:
        """The raw values of a tensor."""
        identity = _identity(tensor.file.stat())
        return cls(tensor.file, tensor.offset, tensor.size, identity)

    @classmethod
    def whole(cls, path: Path) -> FileSource:
        """All bytes of a file."""
        status = path.stat()
        return cls(path, 0, status.st_size, _identity(status))

    @contextmanager
    def opened(self) -> Iterator[ReadAt]:
        """Raises WeightsChanged when the file was replaced, rewritten or removed."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise WeightsChanged(self.path.name) from error
        try:
            if _identity(os.fstat(descriptor)) != self.identity:
                raise WeightsChanged(self.path.name)
            yield lambda offset, length: self._read(descriptor, offset, length)
        finally:
            os.close(descriptor)

    def _read(self, descriptor: int, offset: int, length: int) -> bytes:
        length = min(length, self.size - offset)
        try:
            data = os.pread(descriptor, length, self.offset + offset)
        except OSError as error:
            raise WeightsChanged(self.path.name) from error
        if len(data) != length:
            raise WeightsChanged(self.path.name)
        return data


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_ino, status.st_size, status.st_mtime_ns


@dataclass(frozen=True, slots=True)
class Digests:
    """SHA-256 (hex) of the whole and of every 8 MB chunk."""

    sha256: str
    chunks: tuple[str, ...]


class Progress:
    """Says every few seconds how far a long job is. ``total`` in bytes."""

    def __init__(self, what: str, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._total, self._clock = what, total, clock
        self._done = 0
        self._told_at = clock()

    def advance(self, size: int) -> None:
        """``size`` more bytes are done."""
        self._done += size
        if self._clock() - self._told_at >= _PROGRESS_SECONDS:
            self._told_at = self._clock()
            done, total = self._done / 2**30, self._total / 2**30
            _log.info("%s: %.1f of %.1f GB", self._what, done, total)


def hash_source(source: Source, progress: Progress | None = None) -> Digests:
    """Read ``source`` once, a chunk at a time."""
    whole, chunks = hashlib.sha256(), []
    with source.opened() as read:
        for offset in range(0, source.size, CHUNK_BYTES):
            data = read(offset, CHUNK_BYTES)
            whole.update(data)
            chunks.append(hashlib.sha256(data).hexdigest())
            if progress is not None:
                progress.advance(len(data))
    return Digests(whole.hexdigest(), tuple(chunks))


def hash_files(paths: list[Path], progress: Progress | None = None) -> str:
    """SHA-256 (hex) over each file's size (u64 LE) and bytes. Raises MalformedCheckpoint."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(CHUNK_BYTES))
    for path in paths:
        try:
            with path.open("rb", buffering=0) as file:
                digest.update(os.fstat(file.fileno()).st_size.to_bytes(8, "little"))
                while count := file.readinto(buffer):
                    digest.update(buffer[:count])
                    if progress is not None:
                        progress.advance(count)
        except OSError as error:
            raise MalformedCheckpoint(f"{path.name} cannot be read: {error.strerror}") from error
    return digest.hexdigest()
