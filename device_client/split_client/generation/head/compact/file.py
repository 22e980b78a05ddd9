"""The file that holds a compact LM head's 4-bit plane, beside the weights.

Layout, little-endian: a page that begins with the header below (and a checksum, see
``derived_file``), the column scales f32 [padded hidden], the block scales f32 [rows, blocks], the
levels u8 [rows, blocks, BLOCK / 2]; every part starts at a multiple of 4,096 bytes. A byte holds
two neighbouring columns, the first in its low half; a half of value v is the level v - 8.
Header: magic, u32 version, u32 columns per block, u64 rows, u64 hidden, SHA-256 of the weights.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import PlaneDamaged
from split_client.generation.head.derived_file import PAGE, damage, paged

PLANE_FILE: Final = "compact-v1"
BLOCK: Final = 64
_MAGIC: Final = b"GLCOMPCT"
_VERSION: Final = 1
_HEADER: Final = struct.Struct("<8sIIQQ32s")


@dataclass(frozen=True, slots=True)
class PlaneShape:
    """The shape of a plane. ``source``: SHA-256 of the weight file."""

    rows: int
    hidden: int
    source: bytes

    @property
    def blocks(self) -> int:
        """Blocks per row; the last one is filled with zeros."""
        return -(-self.hidden // BLOCK)

    @property
    def padded_hidden(self) -> int:
        return self.blocks * BLOCK

    @property
    def column_offset(self) -> int:
        """The start of the column scales, in bytes, as the following."""
        return PAGE

    @property
    def scale_offset(self) -> int:
        return PAGE + paged(4 * self.padded_hidden)

    @property
    def level_offset(self) -> int:
        return self.scale_offset + paged(4 * self.rows * self.blocks)

    @property
    def size(self) -> int:
        """Of the whole file."""
        return self.level_offset + self.rows * self.padded_hidden // 2

    def header(self) -> bytes:
        return _HEADER.pack(_MAGIC, _VERSION, BLOCK, self.rows, self.hidden, self.source)


@dataclass(frozen=True, slots=True)
class Plane:
    """A verified plane, mapped; row . h is about the sum over blocks of scale * (level . c h).

    ``column_scale`` c float32 [padded hidden], ``scale`` float32 [rows, blocks], ``levels`` uint8
    [rows, blocks, BLOCK / 2].
    """

    shape: PlaneShape
    column_scale: NDArray[np.float32]
    scale: NDArray[np.float32]
    levels: NDArray[np.uint8]


def read_plane(path: Path, shape: PlaneShape) -> Plane:
    """Map and verify ``path``. Raises PlaneDamaged unless it is a whole plane of ``shape``."""
    reason = damage(path, shape.header(), shape.size)
    if reason is not None:
        raise PlaneDamaged(reason)

    def part(offset: int, dtype: Any, size: tuple[int, ...]) -> NDArray[Any]:
        return np.memmap(path, dtype, "r", offset, size)

    return Plane(
        shape=shape,
        column_scale=part(shape.column_offset, "<f4", (shape.padded_hidden,)),
        scale=part(shape.scale_offset, "<f4", (shape.rows, shape.blocks)),
        levels=part(shape.level_offset, "u1", (shape.rows, shape.blocks, BLOCK // 2)),
    )
