"""The bound on epsilon: it stays below true claims and finds false ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.audit.scoring.epsilon import judge
from split_privacy.gaussian import epsilon_of

DELTA = 1e-5


def ratios(mu: float, count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log-likelihood ratios of N(mu, 1) against N(0, 1), for samples of both."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(mu, 1, count), rng.normal(0, 1, count)
    return mu * x - mu * mu / 2, mu * y - mu * mu / 2


@pytest.mark.parametrize("mu", [0.1, 0.27, 1.0, 3.0, 8.0])
def test_a_true_claim_holds_and_the_bounds_come_near_it(mu: float) -> None:
    claimed = (epsilon_of(DELTA, mu), mu)
    for seed in range(10):
        verdict = judge(*ratios(mu, 4000, seed), claimed, DELTA)
        assert verdict.holds
    if mu in (1.0, 3.0):
        assert verdict.mu_bound > 0.6 * mu
        assert 0.3 * claimed[0] < verdict.epsilon_bound_gaussian <= claimed[0]


@pytest.mark.parametrize("mu", [0.27, 1.0, 3.0])
def test_half_the_noise_that_was_claimed_is_found_out(mu: float) -> None:
    claimed = (epsilon_of(DELTA, mu), mu)
    for seed in range(5):
        verdict = judge(*ratios(2 * mu, 4000, seed), claimed, DELTA)
        assert not verdict.holds
        assert verdict.mu_bound > mu


def test_no_noise_at_all_is_found_out_by_few_releases() -> None:
    verdict = judge(np.full(200, 1e9), np.full(200, -1e9), (1.0, 0.27), DELTA)
    assert not verdict.holds
    assert verdict.epsilon_bound > 1.0


def test_the_bound_without_assumptions_sees_a_mechanism_that_sometimes_tells_all() -> None:
    rng = np.random.default_rng(0)
    told = np.where(rng.random(4000) < 0.5, 50.0, 0.0)
    silent = np.zeros(4000)
    verdict = judge(told, silent, (1.0, 0.27), DELTA)
    assert verdict.epsilon_bound > 4.0
    assert judge(-silent, -told, (1.0, 0.27), DELTA).epsilon_bound > 4.0


def test_releases_that_say_nothing_bound_nothing() -> None:
    verdict = judge(np.zeros(500), np.zeros(500), (1.0, 0.27), DELTA)
    assert verdict.holds
    assert (verdict.epsilon_bound, verdict.mu_bound) == (0.0, 0.0)
    assert verdict.epsilon_bound_gaussian == 0.0
