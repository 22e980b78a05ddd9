"""The file that holds a screen: int8 rows and their error norms, beside the weights.

Layout, little-endian: a 4,096-byte page that begins with the header below, the column scales f32
[hidden], the row arrays f32 [padded rows] in the order of ``ROW_ARRAYS``, the int8 matrix
[tiles, hidden, tile]; every part starts at a multiple of 4,096 bytes.
Header: magic, u32 version, u32 tile, u64 rows, u64 hidden, SHA-256 of the weight file, SHA-256 of
the header up to here and everything after the first page.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import ScreenDamaged
from split_client.generation.head.derived_file import PAGE, damage, paged

FILE_NAME: Final = "screen-v1"
ROW_ARRAYS: Final = ("scale", "error", "norm", "total")
_MAGIC: Final = b"GLSCREEN"
_VERSION: Final = 1
_HEADER: Final = struct.Struct("<8sIIQQ32s")


@dataclass(frozen=True, slots=True)
class ScreenShape:
    """The shape of a screen. ``source``: SHA-256 of the weight file; ``tile``: columns per tile."""

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
        """The start of a row array, ``"matrix"`` or the ``"end"`` of the file, in bytes."""
        first = PAGE + paged(4 * self.hidden)
        parts = (*ROW_ARRAYS, "matrix")
        if part in parts:
            return first + parts.index(part) * paged(4 * self.padded_rows)
        return self.offset("matrix") + self.padded_rows * self.hidden

    @property
    def column_offset(self) -> int:
        return PAGE

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


def read_screen(path: Path, shape: ScreenShape) -> ScreenTables:
    """Map and verify ``path``. Raises ScreenDamaged unless it is a whole screen of ``shape``."""
    reason = damage(path, shape.header(), shape.offset("end"))
    if reason is not None:
        raise ScreenDamaged(reason)

    def part(offset: int, dtype: Any, size: tuple[int, ...]) -> NDArray[Any]:
        return np.memmap(path, dtype, "r", offset, size)

    rows = {name: part(shape.offset(name), "<f4", (shape.padded_rows,)) for name in ROW_ARRAYS}
    return ScreenTables(
        shape=shape,
        column_scale=part(shape.column_offset, "<f4", (shape.hidden,)),
        matrix=part(shape.offset("matrix"), "i1", (shape.tiles, shape.hidden, shape.tile)),
        **rows,
    )
