"""Rows of a tensor as float16, for clients that know no other dtype."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.checkpoint.slices import CHUNK_BYTES, Digests, FileSource, ReadAt
from split_wire.floats import bf16_to_f32

_HALF = np.dtype("<f2")
_STORED: dict[str, np.dtype[Any]] = {"f32": np.dtype("<f4"), "f16": _HALF, "bf16": np.dtype("<u2")}


def _widen(data: bytes, dtype: str) -> NDArray[Any]:
    stored: NDArray[Any] = np.frombuffer(data, _STORED[dtype])
    return bf16_to_f32(stored) if dtype == "bf16" else stored


def _halve(values: NDArray[Any]) -> NDArray[np.float16]:
    """Round to nearest even; beyond 65,504 to infinity, as numpy does."""
    with np.errstate(over="ignore"):
        return values.astype(_HALF, copy=False)


@dataclass(frozen=True, slots=True)
class HalfSource:
    """``tensor`` converted to little-endian float16 a piece at a time."""

    tensor: TensorSlice
    stored: FileSource

    @classmethod
    def of(cls, tensor: TensorSlice) -> HalfSource:
        return cls(tensor, FileSource.of(tensor))

    @property
    def size(self) -> int:
        return self.tensor.size // _STORED[self.tensor.dtype].itemsize * _HALF.itemsize

    @contextmanager
    def opened(self) -> Iterator[ReadAt]:
        with self.stored.opened() as read:
            yield lambda offset, length: self._read(read, offset, min(length, self.size - offset))

    def _read(self, read: ReadAt, offset: int, length: int) -> bytes:
        first, last = offset // 2, -(-(offset + length) // 2)
        data = _halve(self._values(read, first, last)).tobytes()
        return data[offset - 2 * first :][:length]

    def _values(self, read: ReadAt, first: int, last: int) -> NDArray[Any]:
        width = _STORED[self.tensor.dtype].itemsize
        return _widen(read(first * width, (last - first) * width), self.tensor.dtype)

    def measure(self) -> tuple[Digests, int]:
        """Digests of the float16 bytes, and how many values float16 cannot hold exactly."""
        whole, chunks, changed = hashlib.sha256(), [], 0
        with self.stored.opened() as read:
            for first in range(0, self.size // 2, CHUNK_BYTES // 2):
                last = min(first + CHUNK_BYTES // 2, self.size // 2)
                values = self._values(read, first, last)
                halves = _halve(values)
                changed += int(np.count_nonzero(halves.astype(np.float32) != values))
                data = halves.tobytes()
                whole.update(data)
                chunks.append(hashlib.sha256(data).hexdigest())
        return Digests(whole.hexdigest(), tuple(chunks)), changed


def as_f32_bytes(tensor: TensorSlice) -> bytes:
    """The values of a small tensor (a bias) as little-endian float32; exact."""
    with FileSource.of(tensor).opened() as read:
        return _widen(read(0, tensor.size), tensor.dtype).astype("<f4").tobytes()
