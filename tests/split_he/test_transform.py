"""The transform evaluates at the roots, exactly, in SEAL's order."""

from __future__ import annotations

import numpy as np
import pytest
import tenseal.sealapi as sealapi

from split_he.modular import centred, quotients, residues, times
from split_he.params import N, Q, context
from split_he.transform import _smallest_root, forward, inverse
from tests.split_he import seal


def _random(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, Q, shape, dtype=np.uint64)


@pytest.mark.parametrize("batch", [(), (1,), (3,), (2, 5)])
def test_the_inverse_undoes_the_transform(batch: tuple[int, ...]) -> None:
    values = _random((*batch, N))
    assert (residues(inverse(forward(centred(values)))) == values).all()
    assert (residues(forward(inverse(centred(values)))) == values).all()


@pytest.mark.parametrize("value", [Q // 2, Q // 2 + 1, 1])
def test_polynomials_of_the_largest_coefficients_stay_exact(value: int) -> None:
    values = np.full((2, N), value, dtype=np.uint64)
    assert (residues(inverse(forward(centred(values)))) == values).all()


def test_each_value_is_the_polynomial_at_a_power_of_the_smallest_root() -> None:
    values = _random((N,), 1)
    transformed = residues(forward(centred(values)))
    for index in (0, 1, 6, 777, N - 1):
        power = 2 * int(f"{index:011b}"[::-1], 2) + 1
        point, total = pow(_smallest_root(), power, Q), 0
        for coefficient in values[::-1]:
            total = (total * point + int(coefficient)) % Q
        assert int(transformed[index]) == total


def test_products_of_values_are_negacyclic_products_of_polynomials() -> None:
    left, right = _random((N,), 2), np.zeros(N, dtype=np.uint64)
    right[[0, 5, N - 1]] = 7, Q - 1, 123456789012345
    factor = forward(centred(right))
    product = residues(inverse(times(forward(centred(left)), factor, quotients(factor))))
    expected = [0] * N
    for shift in (0, 5, N - 1):
        for i in range(N):
            sign = 1 if i + shift < N else -1
            expected[(i + shift) % N] += sign * int(left[i]) * int(right[shift])
    assert product.tolist() == [value % Q for value in expected]


def test_seals_encoding_of_slots_is_read_back_as_its_polynomial() -> None:
    slots = np.random.default_rng(3).normal(size=N // 2) + 0j
    encoded = sealapi.Plaintext()
    sealapi.CKKSEncoder(context()).encode(slots.tolist(), 2.0**40, encoded)
    coefficients = inverse(centred(seal.read(encoded))) / 2.0**40
    powers = [pow(3, i, 2 * N) for i in range(N // 2)]
    points = np.exp(1j * np.pi / N * np.outer(powers[:64], np.arange(N)))
    assert np.allclose(points @ coefficients, slots[:64], atol=1e-8)
