"""h - r is uniform modulo Q, whatever h is."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.bench.masks.uniform import BINS, STATES, chi_square, limit, masked_numbers
from split_he.params import Q


@pytest.mark.parametrize("kind", STATES)
def test_masked_states_are_uniform_by_chi_square(kind: str) -> None:
    for statistic in chi_square(masked_numbers(kind, 400)).values():
        assert statistic < limit(1e-9)


def test_the_test_finds_what_is_not_uniform() -> None:
    draw = np.random.default_rng(0)
    even = draw.integers(0, Q, 200_000, dtype=np.uint64)
    leaning = even.copy()
    leaning[::20] //= 2
    assert chi_square(even)["leading bits"] < limit(1e-9)
    assert chi_square(leaning)["leading bits"] > limit(1e-9)
    assert limit(0.5) == pytest.approx(BINS - 1, rel=0.01)
