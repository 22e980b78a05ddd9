"""Rounded keys and values against plain float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from scripts.real.measures.quantisers import eight_bit_floats, per_channel, per_position

_VALUES = np.random.default_rng(7).standard_normal((1, 2, 37, 8)).astype(np.float32)


def _rounded(values: np.ndarray, axis: int, bits: int) -> np.ndarray:
    """Evenly spaced numbers from the least to the largest along ``axis``, the nearest taken."""
    wide = values.astype(np.float64)
    low, high = wide.min(axis, keepdims=True), wide.max(axis, keepdims=True)
    grid = np.linspace(low, high, 2**bits)
    nearest = np.abs(grid - wide).argmin(0)[None]
    return np.take_along_axis(np.broadcast_to(grid, (2**bits, *wide.shape)), nearest, 0)[0]


@pytest.mark.parametrize("bits", [4, 8])
def test_values_have_one_grid_for_each_position(bits: int) -> None:
    found = per_position(torch.from_numpy(_VALUES), bits).numpy()
    np.testing.assert_allclose(found, _rounded(_VALUES, -1, bits), atol=1e-5)


@pytest.mark.parametrize("bits", [4, 8])
def test_keys_have_one_grid_for_each_channel_of_sixteen_positions(bits: int) -> None:
    found = per_channel(torch.from_numpy(_VALUES), bits).numpy()
    for start in (0, 16, 32):
        part = _VALUES[:, :, start : start + 16]
        np.testing.assert_allclose(
            found[:, :, start : start + 16], _rounded(part, -2, bits), atol=1e-5
        )


def test_equal_values_stay_as_they_are() -> None:
    same = torch.full((1, 1, 3, 4), 0.7)
    assert torch.equal(per_position(same, 4), same)
    assert torch.equal(per_channel(same, 4), same)


def test_eight_bit_floats_keep_three_bits_behind_the_first() -> None:
    found = eight_bit_floats(torch.tensor([1.0, 1.06, 1.07, 17.5, -3.3])).tolist()
    assert found == [1.0, 1.0, 1.125, 18.0, -3.25]
