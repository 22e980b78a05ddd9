"""A weight matrix that stays on disk: mapped, and widened to float32 row by row when read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from split_client.generation.errors import (
    TokenIdOutOfRange,
    UnknownFloat,
    WeightsMissing,
    WeightsSizeMismatch,
)
from split_wire.floats import FloatName, bf16_to_f32

_STORAGE: Final[dict[str, np.dtype[Any]]] = {
    "f32": np.dtype("<f4"),
    "bf16": np.dtype("<u2"),
    "f16": np.dtype("<f2"),
}


class WeightRows:
    """[rows, hidden] weights in their checkpoint's own dtype, read-only.

    The mapping is shared with the page cache, so the matrix costs no private memory.
    """

    def __init__(self, stored: NDArray[Any], dtype: FloatName, path: Path) -> None:
        self._stored = stored
        self.dtype = dtype
        self.path = path
        self.rows: int = stored.shape[0]
        self.hidden: int = stored.shape[1]

    @classmethod
    def open(cls, path: Path, dtype: FloatName, rows: int, hidden: int) -> Self:
        """Map ``path``: little-endian, row by row, nothing else in the file.

        Raises WeightsMissing, WeightsSizeMismatch, UnknownFloat.
        """
        storage = _STORAGE.get(dtype)
        if storage is None:
            raise UnknownFloat(dtype)
        if not path.is_file():
            raise WeightsMissing(path)
        size, expected = path.stat().st_size, rows * hidden * storage.itemsize
        if size != expected or rows <= 0 or hidden <= 0:
            raise WeightsSizeMismatch(path, size, expected)
        return cls(np.memmap(path, storage, "r", shape=(rows, hidden)), dtype, path)

    @property
    def nbytes(self) -> int:
        """Size of the matrix in its own dtype, in bytes."""
        return int(self._stored.nbytes)

    def check_ids(self, ids: ArrayLike) -> NDArray[np.int64]:
        """``ids`` as a flat int64 array. Raises TokenIdOutOfRange for an id without a row."""
        array = np.asarray(ids, dtype=np.int64).reshape(-1)
        outside = (array < 0) | (array >= self.rows)
        if outside.any():
            raise TokenIdOutOfRange(int(array[outside][0]), self.rows)
        return array

    def take(self, ids: ArrayLike) -> NDArray[np.float32]:
        """Rows ``ids`` [n] as float32 [n, hidden]; widening is exact. Raises TokenIdOutOfRange."""
        return self._widen(self._stored[self.check_ids(ids)])

    def block(self, start: int, stop: int) -> NDArray[np.float32]:
        """Rows start..stop-1 as float32; for float32 weights a view of the mapping, not a copy."""
        return self._widen(self._stored[start:stop])

    def blocks(self, size: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All rows in order as (first row, float32 [at most ``size``, hidden])."""
        for start in range(0, self.rows, size):
            yield start, self.block(start, min(start + size, self.rows))

    def _widen(self, stored: NDArray[Any]) -> NDArray[np.float32]:
        if self.dtype == "bf16":
            return bf16_to_f32(np.asarray(stored))
        return np.asarray(stored, dtype=np.float32)
