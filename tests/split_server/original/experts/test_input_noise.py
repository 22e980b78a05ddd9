from __future__ import annotations

import math

import numpy as np
import pytest

from split_privacy.gaussian import analytic_sigma
from split_server.original.experts.errors import AdapterNoiseUnusable
from split_server.original.experts.input_noise import DELTA, InputNoise


def test_sigma_is_the_analytic_one_and_the_epsilon_the_one_that_was_asked_for() -> None:
    noise = InputNoise.for_epsilon(1.0, 0.5, 192)
    assert noise.sigma == pytest.approx(3.7306, abs=1e-3)
    assert noise.sigma >= analytic_sigma(1.0, DELTA, 1.0)
    assert noise.epsilon == pytest.approx(1.0, abs=1e-3)
    assert noise.epsilon <= 1.0 + 1e-9


def test_rows_are_clipped_and_every_coordinate_is_noised_by_sigma() -> None:
    noise, count = InputNoise.for_epsilon(1.0, 0.5, 64), 400
    rows = np.zeros((count, 64), np.float32)
    rows[:, 0] = 1000.0
    released = noise(rows)
    spread = released[:, 1:].astype(np.float64)
    deviations = 5 / math.sqrt(2 * spread.size)
    assert spread.std() / noise.sigma == pytest.approx(1.0, abs=deviations)
    assert abs(spread.mean()) <= 5 * noise.sigma / math.sqrt(spread.size)
    # What is left of the clipped coordinate is half, beside the noise.
    assert abs(released[:, 0].mean() - 0.5) <= 5 * noise.sigma / math.sqrt(count)


def test_the_same_rows_get_other_noise_each_time() -> None:
    noise = InputNoise.for_epsilon(1.0, 0.5, 8)
    rows = np.ones((2, 8), np.float32)
    first, second = noise(rows), noise(rows)
    assert not np.isclose(first, second).all(1).any()
    assert not np.array_equal(first[0], first[1])


def test_an_epsilon_that_no_noise_gives_is_refused() -> None:
    with pytest.raises(AdapterNoiseUnusable, match="epsilon"):
        InputNoise.for_epsilon(1e-11, 0.5, 192)
