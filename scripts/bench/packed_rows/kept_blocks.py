"""Rows that a device keeps as blocks of q8_0 and unpacks whenever it reads them.

Nothing but the benchmark does so: it is what the rows of bfloat16 that are made once are compared
with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from split_client.generation.head.rows import WeightRows
from split_wire.blocks import q8_0_to_bf16
from split_wire.floats import bf16_to_f32


class BlockRows(WeightRows):
    """The rows of a file of blocks, [rows, hidden]."""

    @classmethod
    def of(cls, path: Path, rows: int, hidden: int) -> BlockRows:
        """Map the blocks at ``path``."""
        made = cls(np.memmap(path, np.uint8, "r", shape=(rows, hidden // 32 * 34)), "bf16", path)
        made.hidden = hidden
        return made

    def take(self, ids: ArrayLike) -> NDArray[np.float32]:
        return self._unpacked(self._stored[self.check_ids(ids)])

    def block(self, start: int, stop: int) -> NDArray[np.float32]:
        return self._unpacked(self._stored[start:stop])

    def _unpacked(self, stored: NDArray[Any]) -> NDArray[np.float32]:
        values = np.frombuffer(q8_0_to_bf16(stored.tobytes()), "<u2")
        return bf16_to_f32(values).reshape(len(stored), self.hidden)
