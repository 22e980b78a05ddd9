"""Calibration of the Gaussian mechanism against the literature and against long arithmetic."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from split_privacy.errors import InvalidPrivacyParameter
from split_privacy.gaussian import analytic_sigma, classical_sigma, delta_of, epsilon_of, mu_of


def exact_delta(epsilon: float, mu: float) -> mpmath.mpf:
    """Theorem 8 of Balle and Wang, with enough digits that nothing cancels."""
    with mpmath.workdps(120):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)

        def tail(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.erfc(-x / mpmath.sqrt(2)) / 2

        return tail(m / 2 - e / m) - mpmath.exp(e) * tail(-m / 2 - e / m)


def test_the_sigmas_of_epsilon_1_are_those_of_the_literature() -> None:
    assert classical_sigma(1.0, 1e-5, 1.0) == pytest.approx(4.8448, abs=5e-5)
    assert analytic_sigma(1.0, 1e-5, 1.0) == pytest.approx(3.7306, abs=5e-5)
    assert analytic_sigma(1.0, 1e-5, 2.5) == pytest.approx(2.5 * 3.7306, abs=2e-4)


def test_delta_equals_long_arithmetic_from_the_middle_far_into_the_tails() -> None:
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(400):
        mu, epsilon = 10 ** rng.uniform(-3, 2), 10 ** rng.uniform(-3, 2.5)
        expected = exact_delta(epsilon, mu)
        if expected > 1e-290:
            compared += 1
            assert abs(delta_of(epsilon, mu) / expected - 1) < 1e-9
        else:
            assert delta_of(epsilon, mu) < 1e-289
    assert compared > 100


@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-5, 1e-9, 1e-30])
@pytest.mark.parametrize("mu", [0.01, 0.4128, 3.0, 9.2308, 100.0])
def test_epsilon_is_the_smallest_that_long_arithmetic_allows(delta: float, mu: float) -> None:
    epsilon = epsilon_of(delta, mu)
    assert exact_delta(epsilon, mu) <= delta * (1 + 1e-9)
    if epsilon:
        assert exact_delta(epsilon * (1 - 1e-9), mu) > delta * (1 - 1e-6)


def test_five_hundred_tokens_at_the_sigma_of_epsilon_1_are_epsilon_81() -> None:
    assert epsilon_of(1e-5, 2 * math.sqrt(500) / 4.8448) == pytest.approx(81.15, abs=0.005)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0, 300.0])
def test_mu_and_epsilon_are_inverse_and_round_to_the_safe_side(epsilon: float) -> None:
    mu = mu_of(epsilon, 1e-5)
    assert delta_of(epsilon, mu) <= 1e-5
    assert epsilon_of(1e-5, mu) == pytest.approx(epsilon, rel=1e-9)


def test_no_release_costs_nothing_and_no_noise_has_no_guarantee() -> None:
    assert delta_of(0.0, 0.0) == 0.0
    assert epsilon_of(1e-5, 0.0) == 0.0
    assert delta_of(1.0, 1e6) == 1.0


def test_parameters_without_a_meaning_are_refused_by_name() -> None:
    for epsilon, delta, sensitivity in [
        (0.0, 1e-5, 1.0), (-1.0, 1e-5, 1.0), (math.nan, 1e-5, 1.0), (math.inf, 1e-5, 1.0),
        (1.0, 0.0, 1.0), (1.0, 1.0, 1.0), (1.0, math.nan, 1.0),
        (1.0, 1e-5, 0.0), (1.0, 1e-5, math.inf),
    ]:  # fmt: skip
        with pytest.raises(InvalidPrivacyParameter):
            analytic_sigma(epsilon, delta, sensitivity)
        with pytest.raises(InvalidPrivacyParameter):
            classical_sigma(epsilon, delta, sensitivity)
    with pytest.raises(InvalidPrivacyParameter, match="analytic"):
        classical_sigma(1.01, 1e-5, 1.0)
    with pytest.raises(InvalidPrivacyParameter, match="mu"):
        delta_of(1.0, -1.0)
