"""How much each of several priors is worth."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.audit.attacks.language.fitted import shares

LEAD = (9, 4)
Numbers = NDArray[np.float64]


class Fixed:
    """Three tokens, as likely after everything; it notes what it was asked."""

    def __init__(self, *chances: float) -> None:
        self.chances = np.log(chances)
        self.asked: list[tuple[int, ...]] = []

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> Numbers:
        self.asked += [tuple(map(int, text)) for text in texts]
        return np.tile(self.chances[tokens], (len(texts), 1))


def test_shares_are_those_under_which_the_texts_are_likeliest() -> None:
    """Of two priors that exclude one another each is worth what it alone explains."""
    left, right = Fixed(0.5, 1e-9, 0.5), Fixed(1e-9, 0.5, 0.5)
    found = shares((left, right), LEAD, [(0, 0, 1), (0, 2), (1, 0, 0)])
    # Token 2 says nothing: five times one, twice the other.
    assert found == pytest.approx((0.25 + 0.5 * 5 / 7, 0.25 + 0.5 * 2 / 7), abs=1e-3)
    assert left.asked == right.asked
    assert left.asked[:5] == [LEAD, LEAD, LEAD, (*LEAD, 0), (*LEAD, 0)]


def test_a_prior_that_is_never_the_better_one_keeps_a_quarter() -> None:
    found = shares((Fixed(0.9, 0.1), Fixed(0.1, 0.9)), LEAD, [(0, 0, 0), (0,)])
    assert found == pytest.approx((0.75, 0.25), abs=1e-3)
    assert sum(found) == pytest.approx(1.0)


def test_priors_that_say_the_same_are_worth_the_same() -> None:
    assert shares((Fixed(0.5, 0.5), Fixed(0.5, 0.5)), LEAD, [(0, 1)]) == pytest.approx((0.5, 0.5))


def test_nothing_is_kept_for_a_prior_that_is_never_the_better_one_if_so_asked() -> None:
    found = shares((Fixed(0.9, 0.1), Fixed(0.1, 0.9)), LEAD, [(0, 0, 0), (0,)], 0.0)
    assert found == pytest.approx((1.0, 0.0), abs=1e-3)
