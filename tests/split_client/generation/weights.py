"""Weight files and full-product references for the tests of the device end."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.int8_matmul import integer_products
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.screen.bounds import Screen
from split_client.generation.head.screen.build import build_screen
from split_client.generation.head.screen.file import ScreenShape, read_screen
from split_wire.floats import FloatName, f32_to_bf16


def write_rows(path: Path, weights: NDArray[np.float32], dtype: FloatName = "bf16") -> WeightRows:
    """Round ``weights`` [rows, hidden] to ``dtype``, write them, and open the file."""
    if dtype == "bf16":
        path.write_bytes(f32_to_bf16(weights).tobytes())
    else:
        path.write_bytes(weights.astype({"f32": "<f4", "f16": "<f2"}[dtype]).tobytes())
    return WeightRows.open(path, dtype, *weights.shape)


def reference_top(
    logits: NDArray[np.float32], k: int, without: tuple[int, ...] = ()
) -> tuple[list[int], list[float]]:
    """First k of all logits by (-logit, id), by a full sort."""
    ids = [i for i in range(logits.size) if i not in set(without)]
    ids.sort(key=lambda i: (-float(logits[i]), i))
    return ids[:k], [float(logits[i]) for i in ids[:k]]


def open_screen(
    folder: Path, rows: WeightRows, *, tile: int = 128, bias: NDArray[np.float32] | None = None
) -> Screen:
    """A screen of ``rows`` whatever its size, freshly derived in ``folder``."""
    shape = ScreenShape(rows.rows, rows.hidden, tile, source=bytes(32))
    build_screen(folder / "screen-v1", rows, shape)
    tables = read_screen(folder / "screen-v1", shape)
    return Screen(tables, integer_products(tables.matrix, threads=1), bias)
