"""Counting what was recovered, its spread, and exact bounds of proportions."""

from __future__ import annotations

import numpy as np
import pytest

from split_client.audit.attacks.guess import Guess, best
from split_client.audit.scoring.bootstrap import FEW, Bootstrap
from split_client.audit.scoring.proportions import at_most, lower, upper
from split_client.audit.scoring.recovery import columns, tally


def guess(*rows: list[int]) -> Guess:
    return Guess(np.array(rows, dtype=np.int64))


def text(ids: object) -> str:
    return "".join(chr(97 + int(i)) for i in ids)  # type: ignore[attr-defined]


def test_hits_ranks_strings_and_whole_texts_are_counted() -> None:
    half = guess([0, 1, 2, 3, 4], [9, 1, 2, 3, 4], [2, 1, 0, 3, 4])
    one = tally(half, (0, 1, 2), ("a", "ab", "c"), text)
    assert (one.tokens, one.top1, one.top5, one.exact) == (3, 2, 3, False)
    assert (one.strings, one.found) == (3, 2)
    whole = tally(guess([0, 1, 2, 3, 4]), (0,), (), text)
    assert (whole.exact, whole.strings) == (True, 0)


def test_the_best_scores_come_first_and_ties_by_id() -> None:
    scores = np.array([0.0, 3.0, 1.0, 3.0, 2.0, 2.0, 2.0])
    assert best(scores).tolist() == [1, 3, 4, 5, 6]


def test_intervals_are_those_of_prompts_drawn_with_replacement() -> None:
    rng = np.random.default_rng(5)
    tokens = rng.integers(5, 20, 60)
    hits = rng.binomial(tokens, 0.4)
    tallies = [
        tally(guess(*([[1, 0, 0, 0, 0]] * h + [[0, 2, 2, 2, 2]] * (t - h))), (1,) * t, (), text)
        for t, h in zip(tokens, hits, strict=True)
    ]
    pairs = columns(tallies)["top1"]
    figure = Bootstrap(60, 1).ratio(pairs)
    share = hits.sum() / tokens.sum()
    # The delta method for a ratio of sums.
    error = np.sqrt(np.square(hits - share * tokens).sum()) / tokens.sum()
    assert figure.value == pytest.approx(share)
    assert figure.low == pytest.approx(share - 1.96 * error, abs=0.012)
    assert figure.high == pytest.approx(share + 1.96 * error, abs=0.012)
    assert Bootstrap(60, 1).ratio(pairs) == figure


def test_an_excess_is_paired_by_prompt() -> None:
    base = np.array([[1, 10], [9, 10], [4, 10]] * 3, dtype=np.float64)
    more = base + np.array([[1, 0]] * 9)
    figure = Bootstrap(9, 0).excess(more, base)
    assert (figure.value, figure.low, figure.high) == pytest.approx((0.1, 0.1, 0.1))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_prompts_that_agree_have_the_interval_of_so_many_trials(count: int) -> None:
    whole, none = np.tile([[7.0, 7.0]], (count, 1)), np.tile([[0.0, 7.0]], (count, 1))
    bootstrap, least = Bootstrap(count, 0), 0.025 ** (1 / count)
    figure = bootstrap.share(whole)
    assert (figure.value, figure.low, figure.high) == pytest.approx((1.0, least, 1.0))
    figure = bootstrap.share(none)
    assert (figure.value, figure.low, figure.high) == pytest.approx((0.0, 0.0, 1 - least))
    excess = bootstrap.excess(whole, none)
    assert (excess.value, excess.low, excess.high) == pytest.approx((1.0, 2 * least - 1, 1.0))


def test_enough_prompts_have_the_interval_of_their_resamples_and_one_has_none() -> None:
    pairs = np.array([[3, 10], [9, 10]] * FEW, dtype=np.float64)
    bootstrap = Bootstrap(2 * FEW, 0)
    assert bootstrap.share(pairs) == bootstrap.ratio(pairs)
    alone = Bootstrap(1, 0).ratio(pairs[:1])
    assert (alone.value, alone.low, alone.high) == (0.3, -np.inf, np.inf)


@pytest.mark.parametrize(("k", "n"), [(0, 30), (1, 30), (17, 40), (40, 40), (1999, 2000)])
def test_bounds_of_proportions_equal_those_of_the_beta_distribution(k: int, n: int) -> None:
    from scipy.stats import beta

    alpha = 0.001
    high = 1.0 if k == n else beta.ppf(1 - alpha, k + 1, n - k)
    low = 0.0 if k == 0 else beta.ppf(alpha, k, n - k + 1)
    assert upper(k, n, alpha) == pytest.approx(high, rel=1e-9)
    assert lower(k, n, alpha) == pytest.approx(low, rel=1e-9, abs=1e-12)


def test_binomial_tails_equal_scipys() -> None:
    from scipy.stats import binom

    for p in (1e-9, 0.02, 0.5, 0.999):
        assert at_most(3, 50, p) == pytest.approx(binom.cdf(3, 50, p), rel=1e-9)
