"""A layer file is written whole, or it is not there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from split_server.checkpoint.layers.layout import DIGEST_BYTES, LayerIndex
from split_server.checkpoint.slices import Progress

TEMPORARY = ".tmp-"
# Puts the tensors of a layer where the index has them, into zeros.
Fill = Callable[[int, memoryview], None]


def write_layer_file(path: Path, index: LayerIndex, fill: Fill) -> None:
    """Write the layers of ``index``, one at a time. Raises OSError, and what ``fill`` raises; then
    nothing is left of it.
    """
    temporary = path.with_name(f"{TEMPORARY}{secrets.token_hex(8)}")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o600)
    try:
        try:
            _write_all(descriptor, index, fill)
        finally:
            os.close(descriptor)
        temporary.rename(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _write_all(descriptor: int, index: LayerIndex, fill: Fill) -> None:
    offsets = index.offsets()
    if hasattr(os, "posix_fallocate"):
        # A disk that is too small says so now, not after minutes.
        os.posix_fallocate(descriptor, 0, offsets[-1])
    progress = Progress("writing the layers", offsets[-1])
    digests = []
    for number, layer in enumerate(index.layers):
        buffer = memoryview(bytearray(layer.size))
        fill(number, buffer)
        digests.append(blake2b(buffer, digest_size=DIGEST_BYTES).digest())
        _write(descriptor, buffer, offsets[number])
        progress.advance(layer.size)
    _write(descriptor, memoryview(index.with_digests(digests).encoded()), 0)
    os.fsync(descriptor)
    with suppress(OSError, AttributeError):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _write(descriptor: int, data: memoryview, at: int) -> None:
    while data:
        count = os.pwrite(descriptor, data, at)
        data, at = data[count:], at + count
