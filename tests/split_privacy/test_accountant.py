"""The accountant against Google's dp-accounting, which convolves privacy loss distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld

from split_privacy.accountant import Accountant
from split_privacy.errors import InvalidPrivacyParameter
from tests.exhaustive import EXHAUSTIVE

SCHEDULES = 1000 if EXHAUSTIVE else 25


def schedule(seed: int) -> list[tuple[float, float, int]]:
    """(sensitivity, sigma, rows) of a few releases; the whole has an epsilon of about 0.1 to 30."""
    rng = np.random.default_rng(seed)
    parts = int(rng.integers(1, 5))
    target = 10 ** rng.uniform(-1.5, 0.6)
    shares = rng.dirichlet(np.ones(parts))
    made = []
    for share in shares:
        rows, sensitivity = int(rng.integers(1, 400)), float(rng.uniform(0.1, 4.0))
        made.append((sensitivity, sensitivity * math.sqrt(rows / share) / target, rows))
    return made


def both(seed: int) -> tuple[float, float, float, float]:
    """(ours, theirs) when everything is replaced, then when one token is."""
    rng = np.random.default_rng(seed)
    delta = float(10 ** rng.uniform(-8, -3))
    ours, whole, token = Accountant(), list[Any](), list[Any]()
    for sensitivity, sigma, rows in schedule(seed):
        ours.add(sensitivity, sigma, rows)
        one = distribution(sensitivity, sigma)
        token.append(one)
        whole.append(one.self_compose(rows) if rows > 1 else one)
    return (
        ours.epsilon(delta), composed(whole).get_epsilon_for_delta(delta),
        ours.token.epsilon(delta), composed(token).get_epsilon_for_delta(delta),
    )  # fmt: skip


def distribution(sensitivity: float, sigma: float) -> Any:
    return pld.from_gaussian_mechanism(
        sigma, sensitivity=sensitivity, value_discretization_interval=5e-4, use_connect_dots=True
    )


def composed(distributions: list[Any]) -> Any:
    total = distributions[0]
    for other in distributions[1:]:
        total = total.compose(other)
    return total


def worst_difference(seeds: range) -> float:
    worst = 0.0
    for seed in seeds:
        whole, whole_expected, token, token_expected = both(seed)
        worst = max(worst, abs(whole - whole_expected), abs(token - token_expected))
    return worst


@pytest.mark.slow
def test_random_schedules_equal_dp_accounting_to_two_decimals() -> None:
    worst = worst_difference(range(SCHEDULES))
    print(f"worst difference of {SCHEDULES} schedules: {worst:.6f}")
    assert worst < 0.005


def test_a_prompt_counts_one_row_for_a_token_and_every_row_for_the_whole() -> None:
    accountant = Accountant()
    accountant.add(2.0, 4.8448, 500)
    assert accountant.token.mu == pytest.approx(2 / 4.8448)
    assert accountant.mu == pytest.approx(2 * math.sqrt(500) / 4.8448)
    assert accountant.epsilon(1e-5) == pytest.approx(81.15, abs=0.005)
    assert accountant.whole.delta(81.16) <= 1e-5


def test_a_text_that_goes_on_shows_other_tokens() -> None:
    accountant = Accountant()
    accountant.add(1.0, 2.0, 10)
    accountant.add(1.0, 2.0, 5, carried=0)
    assert (accountant.token.squared, accountant.whole.squared) == (0.25, 15 * 0.25)


def test_what_is_no_release_is_refused_and_counts_nothing() -> None:
    accountant = Accountant()
    for sensitivity, sigma, count in [(0.0, 1.0, 1), (1.0, 0.0, 1), (1.0, math.nan, 1), (1, 1, -1)]:
        with pytest.raises(InvalidPrivacyParameter):
            accountant.add(sensitivity, sigma, count)
    assert accountant.whole.squared == accountant.token.squared == 0.0
