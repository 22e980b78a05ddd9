"""Random weight files of a LM head and hidden states to go with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.rows import WeightRows
from split_wire.floats import FloatName, f32_to_bf16

BLOCK = 4096


@dataclass(frozen=True, slots=True)
class Inputs:
    """``varied``: norms of rows differ by up to 16, states lean towards a row and have outliers."""

    rows: int
    hidden: int
    dtype: FloatName
    varied: bool

    def open(self, folder: Path) -> WeightRows:
        """The weights in ``folder``, written there first where they are not."""
        path = folder / "rows"
        if not path.exists():
            self._write(path)
        return WeightRows.open(path, self.dtype, self.rows, self.hidden)

    def states(self, rows: WeightRows, count: int) -> Iterator[NDArray[np.float32]]:
        """Hidden states; varied ones lean towards a row, with outliers where columns are small."""
        rng = np.random.default_rng(11)
        for _ in range(count):
            state = rng.standard_normal(self.hidden, dtype=np.float32)
            if self.varied:
                state[:: self.hidden // 8] *= 64
                row = rows.take([int(rng.integers(self.rows))])[0]
                state += row * np.float32(np.sqrt(self.hidden) / np.linalg.norm(row))
            yield state

    def _write(self, path: Path) -> None:
        """Block by block, in the checkpoint's dtype."""
        rng = np.random.default_rng(7)
        columns = np.ones(self.hidden, np.float32)
        if self.varied:
            columns[:: self.hidden // 8] = 2.0**-6
        with path.open("wb") as file:
            for start in range(0, self.rows, BLOCK):
                count = min(BLOCK, self.rows - start)
                block = rng.standard_normal((count, self.hidden), dtype=np.float32) * columns
                if self.varied:
                    block *= 2 ** rng.uniform(-2, 2, (count, 1)).astype(np.float32)
                file.write(_stored(block * np.float32(0.02), self.dtype))


def _stored(block: NDArray[np.float32], dtype: FloatName) -> bytes:
    if dtype == "bf16":
        return f32_to_bf16(block).tobytes()
    return block.astype({"f32": "<f4", "f16": "<f2"}[dtype]).tobytes()
