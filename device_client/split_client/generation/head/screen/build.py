"""Deriving a screen from weight rows: per-row int8 with measured errors, in bounded memory.

With c the column scales (powers of two, so that dividing is exact), row r of the weights is
w_r = c * (scale_r * q_r + e_r), q_r in -127..127. Stored for each row: q_r, scale_r, upper bounds
of the norms |e_r| ("error") and |scale_r q_r| ("norm"), and the sum of q_r ("total").

Column scales bring the columns to one size. Without them a model whose hidden states have a few
huge elements (and LM head columns that are small there) gets the error of its largest columns
multiplied by its largest elements, and the screen would keep nearly every row.
"""

from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import WeightsNotFinite
from split_client.generation.head.derived_file import replacing, seal
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.screen.file import ROW_ARRAYS, ScreenShape

_BLOCK: Final = 2048  # a multiple of every streamed tile
_SAMPLE_BLOCKS, _SAMPLE_ROWS = 64, 64
_EXPONENT_RANGE: Final = 20
_LEVELS: Final = 127
# A row below this keeps no int8 values: its products could underflow float32.
_SMALLEST_SCALE: Final = 2.0**-80


class QuantisedRows(NamedTuple):
    """``q`` int8 [n, hidden]; the others float32 [n]."""

    q: NDArray[np.int8]
    scale: NDArray[np.float32]
    error: NDArray[np.float32]
    norm: NDArray[np.float32]
    total: NDArray[np.float32]


def build_screen(path: Path, rows: WeightRows, shape: ScreenShape) -> None:
    """Write the screen of ``rows`` to ``path``, atomically. Raises WeightsNotFinite, OSError."""
    with replacing(path) as file:
        _write(file, rows, shape)


def column_scales(rows: WeightRows) -> NDArray[np.float32]:
    """Powers of two [hidden] near each column's root mean square over sampled rows of norm one."""
    squares = np.zeros(rows.hidden)
    step = max(_SAMPLE_ROWS, rows.rows // _SAMPLE_BLOCKS)
    for start in range(0, rows.rows, step):
        block = rows.block(start, min(start + _SAMPLE_ROWS, rows.rows)).astype(np.float64)
        with np.errstate(invalid="ignore"):
            norms = np.linalg.norm(block, axis=1, keepdims=True)
        usable = np.isfinite(norms[:, 0]) & (norms[:, 0] > 0)
        squares += ((block[usable] / norms[usable]) ** 2).sum(axis=0)
    if not squares.any():
        return np.ones(rows.hidden, np.float32)
    exponents = np.rint(0.5 * np.log2(np.maximum(squares / squares.max(), 2.0**-200)))
    powers: NDArray[np.float64] = np.exp2(np.maximum(exponents, -_EXPONENT_RANGE))
    return powers.astype(np.float32)


def quantise(block: NDArray[np.float32], scales: NDArray[np.float32]) -> QuantisedRows:
    """Quantise ``block`` [n, hidden]; errors are measured in float64 and rounded up."""
    scaled = block.astype(np.float64)
    scaled /= scales
    with np.errstate(over="ignore"):
        scale = (np.abs(scaled).max(axis=1) / _LEVELS).astype(np.float32)
    scale[~((scale >= _SMALLEST_SCALE) & np.isfinite(scale))] = 0.0
    divisor = np.where(scale > 0, scale, np.float32(np.inf)).astype(np.float64)[:, None]
    levels = np.rint(scaled / divisor)
    np.clip(levels, -_LEVELS, _LEVELS, out=levels)
    wide_scale = scale.astype(np.float64)
    scaled -= levels * wide_scale[:, None]
    return QuantisedRows(
        q=levels.astype(np.int8),
        scale=scale,
        error=_rounded_up(np.maximum(_norms(scaled), _SMALLEST_SCALE)),
        norm=_rounded_up(_norms(levels) * wide_scale),
        total=levels.sum(axis=1).astype(np.float32),
    )


def _norms(values: NDArray[np.float64]) -> NDArray[np.float64]:
    squares: NDArray[np.float64] = np.einsum("ij,ij->i", values, values)
    return np.sqrt(squares)


def _rounded_up(values: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        rounded = (values * (1 + 2.0**-40)).astype(np.float32)
        return np.nextafter(rounded, np.float32(np.inf))


def _write(file: BinaryIO, rows: WeightRows, shape: ScreenShape) -> None:
    file.truncate(shape.offset("end"))
    scales = column_scales(rows)
    file.seek(shape.column_offset)
    file.write(scales.tobytes())
    for start, block in rows.blocks(_BLOCK):
        if not np.isfinite(block).all():
            raise WeightsNotFinite(start + int(np.argmin(np.isfinite(block).all(axis=1))))
        quantised = quantise(block, scales)
        for name in ROW_ARRAYS:
            file.seek(shape.offset(name) + 4 * start)
            file.write(getattr(quantised, name).tobytes())
        _write_matrix(file, shape, start, quantised.q)
    seal(file, shape.header())


def _write_matrix(file: BinaryIO, shape: ScreenShape, start: int, q: NDArray[np.int8]) -> None:
    """Place rows start.. as columns of [tiles, hidden, tile]; past the last row stay zeros."""
    base = shape.offset("matrix")
    if shape.tiles == 1:
        for column, values in enumerate(np.ascontiguousarray(q.T)):
            file.seek(base + column * shape.tile + start)
            file.write(values.tobytes())
        return
    tiles = -(-len(q) // shape.tile)
    padded = np.zeros((tiles * shape.tile, shape.hidden), np.int8)
    padded[: len(q)] = q
    file.seek(base + start * shape.hidden)
    file.write(
        np.ascontiguousarray(padded.reshape(tiles, shape.tile, -1).transpose(0, 2, 1)).tobytes()
    )
