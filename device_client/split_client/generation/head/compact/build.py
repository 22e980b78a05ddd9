"""Deriving the 4-bit plane of a compact LM head from weight rows, in bounded memory.

With c the column scales (powers of two, see ``screen_build``: a few huge elements of a hidden state
meet small columns, and neither may set the step of their neighbours), every block of 64 weights
w / c gets levels q in -8..7 and one float32 scale: w / c is about scale * q.
"""

from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import PlaneNotStored, WeightsNotFinite
from split_client.generation.head.compact.file import BLOCK, PlaneShape
from split_client.generation.head.derived_file import replacing, seal
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.screen.build import column_scales

_AT_ONCE: Final = 2**20  # weights
# The largest weight of a block gets level -8: 8.5 steps, clipped. That costs
# normal and heavy-tailed (Student t, 4 degrees) rows the least squared error of 7, 7.5, ... 14.
_STEPS: Final = 8.5
_LOWEST, _HIGHEST = -8, 7
# A block below this keeps level 0 everywhere: its scale could lose digits to underflow.
_SMALLEST: Final = 2.0**-100
# A weight that a column scale lifts beyond this makes no logit that stays finite.
_LARGEST: Final = np.float32(2.0**120)


class QuantisedBlocks(NamedTuple):
    """``scale`` float32 [n, blocks], ``levels`` int8 [n, blocks, BLOCK] of -8..7."""

    scale: NDArray[np.float32]
    levels: NDArray[np.int8]


def build_plane(path: Path, rows: WeightRows, shape: PlaneShape) -> None:
    """Write the plane of ``rows`` to ``path``, atomically.

    Raises WeightsNotFinite, PlaneNotStored.
    """
    try:
        with replacing(path) as file:
            _write(file, rows, shape)
    except OSError as error:
        raise PlaneNotStored(path, shape.size, error.strerror) from error


def quantise(scaled: NDArray[np.float32]) -> QuantisedBlocks:
    """Quantise ``scaled`` [n, blocks, BLOCK], finite; the scale is the best one for the levels."""
    peak = np.take_along_axis(scaled, np.abs(scaled).argmax(axis=2)[..., None], axis=2)
    usable = np.abs(peak) >= _SMALLEST
    # Negative where the largest weight is positive: it takes the one level without an opposite.
    step = np.where(usable, peak / np.float32(-_STEPS), np.float32(1))
    ratios = scaled / step
    levels = np.clip(np.rint(ratios), _LOWEST, _HIGHEST) * usable
    squares = np.einsum("nbj,nbj->nb", levels, levels)
    fit = np.einsum("nbj,nbj->nb", ratios, levels) / np.maximum(squares, 1)
    return QuantisedBlocks(fit * step[..., 0], levels.astype(np.int8))


def packed(levels: NDArray[np.int8]) -> NDArray[np.uint8]:
    """Levels [..., 2 m] as uint8 [..., m]: two to a byte, the first in the low half."""
    halves = (levels - np.int8(_LOWEST)).view(np.uint8)
    return halves[..., 0::2] | (halves[..., 1::2] << np.uint8(4))


def _write(file: BinaryIO, rows: WeightRows, shape: PlaneShape) -> None:
    file.truncate(shape.size)
    columns = np.ones(shape.padded_hidden, np.float32)
    columns[: shape.hidden] = column_scales(rows)
    file.seek(shape.column_offset)
    file.write(columns.tobytes())
    for start, block in rows.blocks(max(1, _AT_ONCE // shape.hidden)):
        if not np.isfinite(block).all():
            raise WeightsNotFinite(start + int(np.argmin(np.isfinite(block).all(axis=1))))
        quantised = quantise(_blocks(block, columns, shape))
        file.seek(shape.scale_offset + 4 * start * shape.blocks)
        file.write(quantised.scale.tobytes())
        file.seek(shape.level_offset + start * shape.padded_hidden // 2)
        file.write(packed(quantised.levels).tobytes())
    seal(file, shape.header())


def _blocks(
    block: NDArray[np.float32], columns: NDArray[np.float32], shape: PlaneShape
) -> NDArray[np.float32]:
    scaled = np.zeros((len(block), shape.padded_hidden), np.float32)
    with np.errstate(over="ignore"):
        np.divide(block, columns[: shape.hidden], out=scaled[:, : shape.hidden])
    np.clip(scaled, -_LARGEST, _LARGEST, out=scaled)
    return scaled.reshape(len(block), shape.blocks, BLOCK)
