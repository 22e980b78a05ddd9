"""The sampler against the probabilities that it is to have."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from split_privacy.discrete import (
    BASE,
    SPREAD,
    WIDTH,
    combined,
    discrete_gaussian,
    epsilon_of_release,
    exact_base,
)
from split_privacy.gaussian import epsilon_of

DRAWS = 1_000_000


def uniform_words(count: int, seed: int) -> NDArray[np.uint64]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2**64, (count, 2), np.uint64, endpoint=False)


def never(index: int, bits: int) -> int:
    raise AssertionError(f"word {index} was not enough")


def probabilities(s: int, count: int) -> NDArray[np.float64]:
    """P[X = k] for k = -count..count."""
    k = np.arange(-20 * s, 20 * s + 1, dtype=np.float64)
    weights = np.exp(-(k**2) / (2 * s * s))
    return (weights / weights.sum())[20 * s - count : 20 * s + count + 1]


def fit(draws: NDArray[np.int64]) -> float:
    """The chi-square p-value of draws of parameter 3, value by value."""
    from scipy import stats

    observed = np.bincount(draws[np.abs(draws) <= 9] + 9, minlength=19)
    expected = probabilities(3, 9) * draws.size
    rest = (draws.size - observed.sum(), draws.size - expected.sum())
    return float(stats.chisquare([*observed, rest[0]], [*expected, rest[1]]).pvalue)


@pytest.fixture(scope="module")
def million() -> NDArray[np.int64]:
    return discrete_gaussian(uniform_words(DRAWS, 1), never)


def test_sigma_of_a_million_draws_is_the_stated_one(million: NDArray[np.int64]) -> None:
    # Five standard errors of a standard deviation, and of a mean.
    assert million.std() / WIDTH == pytest.approx(1.0, abs=5 / math.sqrt(2 * DRAWS))
    assert million.mean() / WIDTH == pytest.approx(0.0, abs=5 / math.sqrt(DRAWS))


def test_a_million_draws_fit_a_gaussian_down_to_their_tails(million: NDArray[np.int64]) -> None:
    from scipy import stats

    assert stats.kstest(million / WIDTH, "norm").pvalue > 1e-3
    edges = np.array([-math.inf, *np.arange(-4.0, 4.25, 0.25), math.inf])
    observed = np.histogram(million / WIDTH, edges)[0]
    expected = DRAWS * np.diff(stats.norm.cdf(edges))
    assert stats.chisquare(observed, expected).pvalue > 1e-3


def test_coordinates_do_not_correlate(million: NDArray[np.int64]) -> None:
    pairs = million.reshape(-1, 2) / WIDTH
    assert abs(np.corrcoef(pairs.T)[0, 1]) < 5 / math.sqrt(DRAWS / 2)
    assert abs(np.corrcoef((pairs**2).T)[0, 1]) < 5 / math.sqrt(DRAWS / 2)


def test_small_draws_have_the_exact_probabilities_of_whole_numbers() -> None:
    draws = exact_base(uniform_words(150_000, 2).reshape(-1), never, s=3)
    assert fit(draws) > 1e-3


def test_where_a_word_does_not_decide_further_bits_do() -> None:
    from scipy import stats

    words = uniform_words(20_000, 3).reshape(-1)
    extra = np.random.default_rng(4)
    asked = 0

    def more(index: int, bits: int) -> int:
        nonlocal asked
        asked += 1
        return int.from_bytes(extra.bytes(bits // 8), "big")

    draws = exact_base(words, more, s=3, bits=4)
    assert asked > words.size / 3
    observed = np.bincount(draws[np.abs(draws) <= 9] + 9, minlength=19)
    expected = probabilities(3, 9) * draws.size
    rest = draws.size - expected.sum()
    assert (
        stats.chisquare([*observed, draws.size - observed.sum()], [*expected, rest]).pvalue > 1e-3
    )


def test_the_tail_has_no_end() -> None:
    """All bits set is beyond every threshold of 63 bits; further bits go on into the tail."""
    words = np.array([2**64 - 2], np.uint64)
    near = exact_base(words, lambda _, bits: 0)[0]
    far = exact_base(words, lambda _, bits: (1 << bits) - (1 << bits - 100))[0]
    assert near / BASE == pytest.approx(9.2, abs=0.2)
    assert far / BASE > 14


def test_a_pair_of_draws_is_as_good_as_one_wide_draw() -> None:
    """The sum's probabilities differ from a discrete Gaussian's by the stated factor."""
    with mpmath.workdps(60):
        spread, base = 8, 18  # the same ratio as of SPREAD and BASE
        width2 = mpmath.mpf(base**2 * (1 + spread**2))
        k = 37
        terms = range(-40 * base, 40 * base)

        def weight(j: int) -> mpmath.mpf:
            return mpmath.exp(-mpmath.mpf(j * j) / (2 * base * base))

        total = mpmath.fsum(weight(j) for j in range(-40 * base, 40 * base + 1))
        summed = mpmath.fsum(weight(k - spread * b) * weight(b) for b in terms) / total**2
        wide = mpmath.exp(-k * k / (2 * width2)) / mpmath.sqrt(2 * mpmath.pi * width2)
        bound = 4 * mpmath.exp(-2 * mpmath.pi**2 * base**2 / mpmath.mpf(1 + spread**2))
        assert abs(summed / wide - 1) < 2 * bound < 1e-40
    assert BASE / math.sqrt(1 + SPREAD**2) > base / math.sqrt(1 + spread**2)
    assert combined(np.array([[3, -2]])).tolist() == [3 - 2 * SPREAD]


def test_the_slack_of_whole_numbers_is_counted_and_tiny() -> None:
    plain = epsilon_of(1e-5, 9.2308)
    counted = epsilon_of_release(1e-5, 9.2308, 500 * 896)
    assert plain < counted < plain + 1e-5
    assert epsilon_of_release(1e-5, 0.0, 0) == 0.0
    assert epsilon_of_release(1e-5, 1e3, 10) == math.inf
    assert epsilon_of_release(1e-5, 1.0, 10**12) == math.inf
