"""Arithmetic modulo Q equals Python's integers, at the edges as well."""

from __future__ import annotations

import numpy as np
import pytest

from split_he.modular import centre, centred, dot, quotients, residues, times
from split_he.params import N, Q

EDGES = [0, 1, 2, Q // 2 - 1, Q // 2, Q // 2 + 1, Q - 2, Q - 1]


def _random(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, Q, shape, dtype=np.uint64)


def test_centred_numbers_and_residues_are_the_same_classes() -> None:
    values = np.concatenate([np.array(EDGES, dtype=np.uint64), _random((1000,), 1)])
    middle = centred(values)
    assert np.abs(middle).max() <= Q // 2
    assert (residues(middle) == values).all()


@pytest.mark.parametrize("reach", [1, 64, 250])
def test_numbers_of_many_moduli_are_reduced(reach: int) -> None:
    values = np.random.default_rng(2).integers(-reach * Q, reach * Q, 5000)
    reduced = centre(values)
    assert np.abs(reduced).max() <= Q // 2 + 1
    assert all((int(v) - int(r)) % Q == 0 for v, r in zip(values, reduced, strict=True))


@pytest.mark.parametrize("reach", [1, 89, 322, 511])
def test_where_a_quotient_is_rounded_the_wrong_way_the_result_is_still_exact(reach: int) -> None:
    near = [reach * Q + Q // 2 + off for off in range(-3000, 3000, 7) if reach < 511]
    near += [reach * Q - Q // 2 + off for off in range(-3000, 3000, 7)]
    values = np.array([sign * value for value in near for sign in (1, -1)], dtype=np.int64)
    reduced = centre(values)
    assert np.abs(reduced).max() <= Q // 2 + 3072 < 2**53
    assert residues(reduced).tolist() == [int(value) % Q for value in values]


def test_products_equal_those_of_python_integers() -> None:
    edges = np.array(EDGES, dtype=np.uint64)
    left = np.concatenate([np.repeat(edges, len(edges)), _random((4000,), 3)])
    right = np.concatenate([np.tile(edges, len(edges)), _random((4000,), 4)])
    factor = centred(right)
    product = residues(times(centred(left), factor, quotients(factor)))
    assert product.tolist() == [int(a) * int(b) % Q for a, b in zip(left, right, strict=True)]


def test_products_of_numbers_that_grew_to_140_moduli_are_exact() -> None:
    left = np.random.default_rng(5).integers(-140 * Q, 140 * Q, 4000)
    left[:2] = -140 * Q, 140 * Q
    factor = centred(_random((4000,), 6))
    product = residues(times(left, factor, quotients(factor)))
    assert product.tolist() == [int(a) * int(b) % Q for a, b in zip(left, factor, strict=True)]


@pytest.mark.parametrize("terms", [1, 16, 17, 45])
def test_sums_of_products_are_exact_even_when_all_terms_are_the_largest(terms: int) -> None:
    left, right = _random((terms, 2, N), 7), _random((terms, N), 8)
    left[:, :, :50] = Q // 2
    right[:, :25], right[:, 25:50] = Q // 2, Q // 2 + 1
    factor, values = centred(right), centred(left)
    found = residues(dot(values, values.astype(np.float64), factor, quotients(factor)))
    for half in range(2):
        for i in range(0, N, 17):
            expected = sum(int(left[j, half, i]) * int(right[j, i]) for j in range(terms))
            assert int(found[half, i]) == expected % Q
