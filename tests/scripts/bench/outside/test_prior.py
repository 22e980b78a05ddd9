"""Counts give probabilities: they add up to 1, and follow Witten and Bell where one can count."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.bench.outside.counts import LONGEST, grams_of, grams_of_phrases
from scripts.bench.outside.prior import Counts, Mixture

_SIZE = 6
_BEGIN, _END = _SIZE, _SIZE + 1
_TEXTS = [[0, 1, 2], [0, 1, 3], [4, 4, 4, 4, 4, 4, 0]]


def _counts() -> Counts:
    return Counts([grams_of(_TEXTS, 1.0, _BEGIN, _END)], _SIZE)


def test_what_can_follow_any_context_adds_up_to_one() -> None:
    counts, rng = _counts(), np.random.default_rng(0)
    keys = rng.integers(0, _SIZE + 1, (50, LONGEST)).astype(np.uint64)
    packed = keys @ np.array([1 << 48, 1 << 32, 1 << 16, 1], np.uint64)
    everything = counts.behind(packed, np.arange(_SIZE + 2))
    assert everything.sum(1) == pytest.approx(np.ones(50))
    assert (everything > 0).all()


def test_a_token_behind_one_other_has_the_share_that_counting_gives() -> None:
    counts = Counts([grams_of_phrases([([0], [1], 3.0), ([0], [2], 1.0)])], _SIZE)
    alone = counts.single()
    found = counts.behind(np.array([0], np.uint64), np.array([1, 2, 5]))[0]
    # Four times seen, two different ones: two sixths are left for what any token is.
    assert found[0] == pytest.approx(3 / 6 + alone[1] * 2 / 6)
    assert found[2] == pytest.approx(alone[5] * 2 / 6)


def test_some_tokens_have_the_probability_that_they_have_among_all() -> None:
    mixture = Mixture([(0.5, _counts()), (0.5, _counts())], _SIZE)
    _, state = mixture.start()
    some = np.array([4, 1])
    assert mixture.behind(state, some)[0] == pytest.approx(
        mixture.behind(state, np.arange(_SIZE))[0][some]
    )


def test_a_text_that_was_read_is_likelier_than_its_reverse() -> None:
    mixture = Mixture([(1.0, _counts())], _SIZE)

    def likelihood(text: list[int]) -> float:
        _, state = mixture.start()
        total = 1.0
        for token in text:
            tokens = np.array([token])
            total *= float(mixture.behind(state, tokens)[0, 0])
            state = mixture.step(state, np.array([0]), tokens)
        return total * float(mixture.ends(state)[0])

    assert likelihood([0, 1, 2]) > 10 * likelihood([2, 1, 0])
