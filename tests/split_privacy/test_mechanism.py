"""Rows with noise: what is released, and what that costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from split_privacy.errors import InvalidPrivacyParameter
from split_privacy.gaussian import analytic_sigma
from split_privacy.mechanism import RowMechanism, clipped
from split_privacy.prf import NoiseContext, RowName, RowStreams, histories
from split_privacy.sensitivity import largest_distance
from split_wire.tensor import Tensor, WireDtype

WIDTH = 64


def table(rows: int = 50, width: int = WIDTH, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)


def streams(sigma: float, codec: str = "f32") -> RowStreams:
    return RowStreams(NoiseContext(b"k" * 32, "embedding", sigma, 2.0, "m", codec))


def names(tokens: list[int]) -> list[RowName]:
    return [
        RowName(i, t, h) for i, (t, h) in enumerate(zip(tokens, histories(tokens), strict=True))
    ]


def test_rows_are_scaled_down_to_the_norm_and_never_up() -> None:
    rows = table()
    rows[0] = 0.0
    rows[1] *= 1e-3
    short = clipped(rows, 2.0)
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    assert np.allclose(np.linalg.norm(short, axis=1), np.minimum(lengths, 2.0))
    assert (short[0] == 0).all()
    assert (short[1] == rows[1]).all()


def test_the_released_row_is_the_clipped_row_and_noise_of_sigma() -> None:
    mechanism, rows = RowMechanism(0.5, 2.0, 4.0, WIDTH), table()
    tokens = list(range(50)) * 300
    released = mechanism.release(rows[np.array(tokens)], names(tokens), streams(0.5))
    noise = released - clipped(rows, 2.0)[np.array(tokens)]
    assert noise.std() == pytest.approx(0.5, rel=5 / math.sqrt(2 * noise.size))
    assert noise.mean() == pytest.approx(0.0, abs=5 * 0.5 / math.sqrt(noise.size))


def test_a_row_alone_has_the_noise_that_it_has_among_others() -> None:
    mechanism, rows, tokens = RowMechanism(0.5, 2.0, 4.0, WIDTH), table(), [4, 9, 4, 7]
    together = mechanism.release(rows[tokens], names(tokens), streams(0.5))
    for index, name in enumerate(names(tokens)):
        alone = mechanism.release(rows[[tokens[index]]], [name], streams(0.5))
        assert (alone[0] == together[index]).all()
    assert not (together[0] == together[2]).any()


@pytest.mark.parametrize("codec", ["f32", "f16", "bf16", "i8"])
def test_what_the_wire_does_is_a_function_of_the_released_row_alone(codec: WireDtype) -> None:
    """Rounding sees the sum, never the row: equal sums give equal bytes, whatever was inside."""
    mechanism, rows = RowMechanism(0.5, 2.0, 4.0, WIDTH), table(2)
    grid = mechanism.on_grid(rows)
    noise = mechanism.noise(names([0]), streams(0.5))
    released = mechanism.release(rows[:1], names([0]), streams(0.5))
    other_noise = noise + grid[:1] - grid[1:]
    same = ((grid[1:] + other_noise) * mechanism.step).astype(np.float32)
    left, right = Tensor.from_f32(released, codec), Tensor.from_f32(same, codec)
    assert (bytes(left.data), bytes(left.scales)) == (bytes(right.data), bytes(right.scales))


def test_the_distance_covers_clipped_and_rounded_rows() -> None:
    rows = table(200)
    largest = largest_distance(lambda ids: rows[ids], 200, WIDTH, 2.0).distance
    # A grid as coarse as rows are long: what rounding adds must be counted.
    mechanism = RowMechanism(2.0 * 2**20, 2.0, largest, WIDTH)
    steps = mechanism.on_grid(rows).astype(np.float64) * mechanism.step
    pairs = np.linalg.norm(steps[:, None] - steps[None], axis=2)
    assert largest < pairs.max() <= mechanism.distance


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 8.0, 50.0])
def test_the_least_noise_for_an_epsilon_gives_it_and_hardly_exceeds_the_formula(
    epsilon: float,
) -> None:
    mechanism = RowMechanism.for_epsilon(epsilon, 1e-5, 2.0, 3.0, 896)
    assert mechanism.epsilon(1e-5) <= epsilon * (1 + 1e-9)
    assert mechanism.sigma == pytest.approx(analytic_sigma(epsilon, 1e-5, 3.0), rel=1e-3)
    assert mechanism.sigma > analytic_sigma(epsilon, 1e-5, 3.0)


def test_every_row_counts_when_the_whole_prompt_is_replaced() -> None:
    mechanism = RowMechanism(4.8448, 1.0, 2.0, 896)
    assert mechanism.epsilon(1e-5, 500) == pytest.approx(81.15, abs=0.01)


def test_noise_that_is_none_is_refused() -> None:
    for sigma in (0.0, -1.0, math.nan, math.inf, 1e-12):
        with pytest.raises(InvalidPrivacyParameter, match="sigma"):
            RowMechanism(sigma, 1.0, 2.0, WIDTH)
    with pytest.raises(InvalidPrivacyParameter, match="epsilon"):
        RowMechanism.for_epsilon(1e-6, 1e-30, 1.0, 2.0, 896)
