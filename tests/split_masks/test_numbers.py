"""Numbers in seven bytes: every residue comes back, nothing else is taken."""

from __future__ import annotations

import numpy as np
import pytest

from split_he.params import Q
from split_masks.errors import MalformedNumbers
from split_masks.numbers import NUMBER_BYTES, numbers_bytes, pack, unpack


def test_every_residue_comes_back() -> None:
    drawn = np.random.default_rng(0).integers(0, Q, 893, dtype=np.uint64)
    values = np.concatenate([np.array([0, 1, 255, 256, 2**53, Q - 1], np.uint64), drawn])
    data = pack(values)
    assert len(data) == numbers_bytes(len(values)) == 7 * 899
    assert (unpack(data, 899) == values).all()
    assert data[:7] == bytes(7)
    assert int.from_bytes(data[-7:], "little") == values[-1]


def test_a_packed_view_with_steps_is_packed_as_it_reads() -> None:
    values = np.arange(20, dtype=np.uint64)[::2]
    assert (unpack(pack(values), 10) == values).all()


@pytest.mark.parametrize("size", [0, 6, 7 * 4 - 1, 7 * 4 + 1, 8 * 4])
def test_another_length_is_refused(size: int) -> None:
    with pytest.raises(MalformedNumbers, match="bytes instead of 28"):
        unpack(bytes(size), 4)


@pytest.mark.parametrize("number", [Q, Q + 1, 2**54, 2**56 - 1])
def test_a_number_that_is_no_residue_is_refused(number: int) -> None:
    data = bytes(NUMBER_BYTES) + number.to_bytes(NUMBER_BYTES, "little")
    with pytest.raises(MalformedNumbers, match="below the modulus") as refused:
        unpack(data, 2)
    assert refused.value.code == "malformed_mask"
