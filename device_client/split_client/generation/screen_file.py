"""The file that holds a screen: int8 rows and their error norms, beside the weights.

Layout, little-endian: a 4,096-byte page that begins with the header below, the column scales f32
[hidden], the row arrays f32 [padded rows] in the order of ``ROW_ARRAYS``, the int8 matrix
[tiles, hidden, tile]; every part starts at a multiple of 4,096 bytes.
Header: magic, u32 version, u32 tile, u64 rows, u64 hidden, SHA-256 of the weight file, SHA-256 of
the header up to here and everything after the first page.
"""

import hashlib
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import ScreenDamaged

FILE_NAME: Final = "screen-v1"
ROW_ARRAYS: Final = ("scale", "error", "norm", "total")
_MAGIC: Final = b"GLSCREEN"
_VERSION: Final = 1
_HEADER: Final = struct.Struct("<8sIIQQ32s")
_DIGEST_SIZE: Final = 32
_PAGE: Final = 4096


def _page(offset: int) -> int:
    return -(-offset // _PAGE) * _PAGE


@dataclass(frozen=True, slots=True)
class ScreenShape:
    """What a screen is of. ``source``: SHA-256 of the weight file; ``tile``: columns per tile."""

    rows: int
    hidden: int
    tile: int
    source: bytes

    @property
    def tiles(self) -> int:
        return -(-self.rows // self.tile)

    @property
    def padded_rows(self) -> int:
        return self.tiles * self.tile

    def offset(self, part: str) -> int:
        """Where a row array, ``"matrix"`` or the ``"end"`` of the file begins, in bytes."""
        first = _PAGE + _page(4 * self.hidden)
        parts = (*ROW_ARRAYS, "matrix")
        if part in parts:
            return first + parts.index(part) * _page(4 * self.padded_rows)
        return self.offset("matrix") + self.padded_rows * self.hidden

    @property
    def column_offset(self) -> int:
        return _PAGE

    def header(self) -> bytes:
        return _HEADER.pack(_MAGIC, _VERSION, self.tile, self.rows, self.hidden, self.source)


@dataclass(frozen=True, slots=True)
class ScreenTables:
    """A verified screen, mapped read-only. Row arrays are [padded rows], see ``screen_build``."""

    shape: ScreenShape
    column_scale: NDArray[np.float32]
    scale: NDArray[np.float32]
    error: NDArray[np.float32]
    norm: NDArray[np.float32]
    total: NDArray[np.float32]
    matrix: NDArray[np.int8]


def seal(file: BinaryIO, shape: ScreenShape) -> None:
    """Write the header of a file whose parts are complete."""
    file.flush()
    digest = _digest(file, shape)
    file.seek(0)
    file.write(shape.header() + digest)


def read_screen(path: Path, shape: ScreenShape) -> ScreenTables:
    """Map and verify ``path``. Raises ScreenDamaged unless it is a whole screen of ``shape``."""
    try:
        with path.open("rb") as file:
            _verify(file, shape)
    except OSError as error:
        raise ScreenDamaged(f"{path.name} cannot be read ({error.strerror})") from error

    def part(offset: int, dtype: Any, size: tuple[int, ...]) -> NDArray[Any]:
        return np.memmap(path, dtype, "r", offset, size)

    rows = {name: part(shape.offset(name), "<f4", (shape.padded_rows,)) for name in ROW_ARRAYS}
    return ScreenTables(
        shape=shape,
        column_scale=part(shape.column_offset, "<f4", (shape.hidden,)),
        matrix=part(shape.offset("matrix"), "i1", (shape.tiles, shape.hidden, shape.tile)),
        **rows,
    )


def _verify(file: BinaryIO, shape: ScreenShape) -> None:
    expected = shape.header()
    found = file.read(_HEADER.size + _DIGEST_SIZE)
    if found[: _HEADER.size] != expected:
        raise ScreenDamaged("its header is not that of these weights")
    if file.seek(0, 2) != shape.offset("end"):
        raise ScreenDamaged("its size is wrong")
    if found[_HEADER.size :] != _digest(file, shape):
        raise ScreenDamaged("its checksum is wrong")


def _digest(file: BinaryIO, shape: ScreenShape) -> bytes:
    digest = hashlib.sha256(shape.header())
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        digest.update(memoryview(mapped)[_PAGE:])
    return digest.digest()
