from __future__ import annotations

import numpy as np
import pytest

from split_he.errors import InputOutOfRange
from split_server.original.experts.encryption import KEPT_BLINDS, HeTimes, LocalEncryption

pytest.importorskip("tenseal")
HIDDEN, RANK = 96, 5


def matrix() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((RANK, HIDDEN)).astype(np.float32)


def rows(count: int) -> np.ndarray:
    return np.random.default_rng(2).standard_normal((count, HIDDEN)).astype(np.float32)


def test_products_are_those_of_the_matrix_and_their_times_are_of_work() -> None:
    a, given = matrix(), rows(3)
    products, times = LocalEncryption(a).multiply(given)
    expected = given.astype(np.float64) @ a.T.astype(np.float64)
    assert np.abs(products - expected).max() <= 1e-4 * np.abs(expected).max()
    assert times.encrypt > 0
    assert times.compute > 0
    assert times.decrypt > 0


def test_times_are_read_between_the_three_kinds_of_work() -> None:
    ticks = iter(float(2**n) for n in range(8))
    encryption = LocalEncryption(matrix(), clock=lambda: next(ticks))
    _, times = encryption.multiply(rows(2))
    assert times == HeTimes(1 + 16, 2 + 32, 4 + 64)


def test_a_state_beyond_the_scales_is_refused() -> None:
    encryption = LocalEncryption(matrix())
    with pytest.raises(InputOutOfRange):
        encryption.multiply(1000 * rows(1))


def test_blinds_are_made_ahead_up_to_a_bound() -> None:
    encryption = LocalEncryption(matrix())
    made = 0
    while encryption.refill():
        made += 1
    assert made == KEPT_BLINDS
    encryption.multiply(rows(1))
    assert encryption.refill()
