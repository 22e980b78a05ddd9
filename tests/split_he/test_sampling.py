"""Random polynomials have the distributions that the security rests on."""

from __future__ import annotations

import math
import os
from collections.abc import Callable

import numpy as np
import pytest

from split_he.bits import pack
from split_he.params import N, Q
from split_he.sampling import errors, expand, ternary, uniform


def _seeded(seed: int) -> Callable[[int], bytes]:
    return np.random.default_rng(seed).bytes


def test_both_sides_expand_a_seed_to_the_same_residues_and_labels_matter() -> None:
    one = expand(b"a", b"seed", 3)
    assert (expand(b"a", b"seed", 3) == one).all()
    assert (expand(b"a", b"seed", 1)[0] == one[0]).all()
    assert not (expand(b"b", b"seed", 3) == one).any()


def test_numbers_that_are_not_residues_are_passed_over() -> None:
    numbers = np.arange(8 * N, dtype=np.uint64)
    numbers[[0, 7, 8, 9, 10, 11, N]] = Q, Q + 5, 2**54 - 1, Q, Q, Q, Q
    stream = pack(numbers)
    kept = [int(n) for n in numbers if n < Q]
    assert uniform(lambda size: stream[:size], 2).reshape(-1).tolist() == kept[: 2 * N]


def test_expanded_residues_are_uniform() -> None:
    from scipy import stats

    values = expand(b"test", b"uniform", 40).reshape(-1) / Q
    assert stats.kstest(values, "uniform").pvalue > 1e-4
    low = np.bincount((expand(b"test", b"low bits", 40).reshape(-1) % np.uint64(64)).astype(int))
    assert stats.chisquare(low).pvalue > 1e-4


def test_errors_are_centred_binomial_with_42_bits() -> None:
    from scipy import stats

    drawn = errors(_seeded(1), 100).reshape(-1)
    assert np.abs(drawn).max() <= 21
    counts = np.bincount(drawn + 21, minlength=43)[9:34]
    weights = np.array([math.comb(42, k) for k in range(9, 34)], dtype=float)
    assert stats.chisquare(counts, weights / weights.sum() * counts.sum()).pvalue > 1e-4
    assert drawn.var() == pytest.approx(10.5, rel=0.02)


def test_ternary_numbers_are_equally_likely_and_rejection_refills() -> None:
    from scipy import stats

    drawn = ternary(_seeded(2), 60).reshape(-1) + 1
    assert stats.chisquare(np.bincount(drawn, minlength=3)).pvalue > 1e-4
    rejecting = iter([b"\xff" * 5000, b"\x00" * 5000])
    assert (ternary(lambda size: next(rejecting)[:size], 1) == -1).all()


def test_the_system_is_asked_for_exactly_as_many_bytes_as_errors_need() -> None:
    asked: list[int] = []
    errors(lambda size: asked.append(size) or os.urandom(size), 2)
    assert asked == [2 * N * 6]
