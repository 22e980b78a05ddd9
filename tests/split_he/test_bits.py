"""Residues travel as 54-bit numbers without a gap."""

from __future__ import annotations

import numpy as np

from split_he.bits import POLYNOMIAL_BYTES, pack, unpack
from split_he.params import N, Q


def test_bytes_are_one_long_little_endian_number() -> None:
    values = np.random.default_rng(0).integers(0, 2**54, 2 * N, dtype=np.uint64)
    values[:4] = 2**54 - 1, 0, Q - 1, 1
    packed = pack(values)
    assert len(packed) == 2 * POLYNOMIAL_BYTES == 27_648
    number = sum(int(value) << (54 * i) for i, value in enumerate(values))
    assert packed == number.to_bytes(len(packed), "little")


def test_unpacking_gives_every_number_back() -> None:
    values = np.random.default_rng(1).integers(0, 2**54, (3, N), dtype=np.uint64)
    assert (unpack(pack(values)).reshape(3, N) == values).all()


def test_columns_that_are_not_contiguous_are_packed_alike() -> None:
    values = np.random.default_rng(2).integers(0, Q, (N, 4), dtype=np.uint64)
    assert pack(values.T) == pack(values.T.copy())
