"""An opened layer file: whole layers, read past the page cache and never mapped.

The page cache is of no use to whoever reads a file from begin to end over and over, and counts
against control groups; a mapped file that is cut short ends the process that reads it.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from split_files import NotRegularFile, open_regular
from split_server.checkpoint.layers.errors import LayerFileDamaged
from split_server.checkpoint.layers.layout import (
    ALIGNMENT,
    DIGEST_BYTES,
    HEAD_BYTES,
    LayerIndex,
    index_bytes,
    parse_index,
)
from split_server.checkpoint.layers.opening import make_plain, opened_direct

# A disk is kept busy by requests of this size, and nobody waits long for one of them to end.
_READ_BYTES = 32 << 20


class LayerFile:
    """``index`` of the file at ``path``, which stays open; ``direct``: the page cache has no part.

    On one thread at a time.
    """

    def __init__(self, path: Path, descriptor: int, index: LayerIndex, *, direct: bool) -> None:
        self.path = path
        self.index = index
        self.direct = direct
        self._descriptor = descriptor
        self._offsets = index.offsets()

    def stamp(self) -> tuple[int, int]:
        """Changes when somebody writes to the file. Raises OSError."""
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def read(self, layer: int, buffer: memoryview) -> None:
        """Fill the begin of ``buffer``, which begins at a page, with a layer.

        Raises LayerFileDamaged where the file ends before the layer does, OSError.
        """
        begin, end = self._offsets[layer], self._offsets[layer + 1]
        at = begin
        while at < end:
            part = buffer[at - begin : min(at - begin + _READ_BYTES, end - begin)]
            count = self._read(part, at)
            if not count:
                raise LayerFileDamaged("it was cut short")
            at += count
        if not self.direct:
            _forget(self._descriptor, begin, end - begin)

    def sound(self, layer: int, buffer: memoryview) -> bool:
        """Whether ``buffer`` begins with the layer as it was written."""
        stored = self.index.layers[layer]
        digest = blake2b(buffer[: stored.size], digest_size=DIGEST_BYTES).digest()
        return digest == stored.digest

    def remove(self) -> None:
        """Have nobody open the file any more; who has it open reads on."""
        with suppress(OSError):
            self.path.unlink()

    def close(self) -> None:
        """Read no more."""
        os.close(self._descriptor)

    def _read(self, buffer: memoryview, at: int) -> int:
        """Bytes that were read, in whole blocks; 0 at the end."""
        try:
            count = os.preadv(self._descriptor, [buffer], at)
        except OSError as error:
            if not self.direct or error.errno != errno.EINVAL:
                raise
            # Some file systems open a file for direct reads that they then refuse.
            make_plain(self._descriptor)
            self.direct = False
            count = os.preadv(self._descriptor, [buffer], at)
        return count // ALIGNMENT * ALIGNMENT


def open_layer_file(path: Path, source: str) -> LayerFile:
    """The layer file that was made of ``source``. Raises LayerFileDamaged, OSError."""
    index = _index(path)
    if index.source != source:
        raise LayerFileDamaged("it was made of another model")
    descriptor, direct = opened_direct(path)
    file = LayerFile(path, descriptor, index, direct=direct)
    if file.stamp()[0] != index.offsets()[-1]:
        file.close()
        raise LayerFileDamaged("it is cut short, or longer than it was written")
    return file


def _index(path: Path) -> LayerIndex:
    try:
        with open_regular(path) as file:
            head = file.read(HEAD_BYTES)
            return parse_index(head, file.read(index_bytes(head)))
    except NotRegularFile as error:
        raise LayerFileDamaged(str(error.strerror)) from error


def _forget(descriptor: int, begin: int, size: int) -> None:
    """Have the page cache drop what was read."""
    with suppress(OSError, AttributeError):
        os.posix_fadvise(descriptor, begin, size, os.POSIX_FADV_DONTNEED)
