"""Files derived from weights and kept beside them: a header page, parts, one checksum.

The first 4,096 bytes begin with the kind's own header and the SHA-256 of that header and of
everything after the first page. A file appears under its name complete or not at all.
"""

import contextlib
import hashlib
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from split_files import open_regular

PAGE: Final = 4096
_DIGEST_SIZE: Final = 32


def paged(size: int) -> int:
    """``size`` rounded up to whole pages, in bytes."""
    return -(-size // PAGE) * PAGE


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes the place of ``path`` at the end, or leaves nothing.

    Raises OSError.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def seal(file: BinaryIO, header: bytes) -> None:
    """Write the header of a file whose parts are complete. Raises OSError."""
    file.flush()
    digest = _digest(file, header)
    file.seek(0)
    file.write(header + digest)


def damage(path: Path, header: bytes, size: int) -> str | None:
    """The reason why ``path`` is no whole file of ``header`` and ``size`` bytes, else None."""
    try:
        with open_regular(path) as file:
            return _damage(file, header, size)
    except OSError as error:
        return f"{path.name} cannot be read ({error.strerror})"


def _damage(file: BinaryIO, header: bytes, size: int) -> str | None:
    found = file.read(len(header) + _DIGEST_SIZE)
    if found[: len(header)] != header:
        return "its header is not that of these weights"
    if file.seek(0, os.SEEK_END) != size:
        return "its size is wrong"
    if found[len(header) :] != _digest(file, header):
        return "its checksum is wrong"
    return None


def _digest(file: BinaryIO, header: bytes) -> bytes:
    digest = hashlib.sha256(header)
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        digest.update(memoryview(mapped)[PAGE:])
    return digest.digest()


def file_digest(path: Path) -> bytes:
    """SHA-256 of a whole file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
