"""Blinds are used once, hide what carries no result, and add no more than noise to what does."""

from __future__ import annotations

import numpy as np
import pytest

from split_he import device
from split_he.errors import BlindsExhausted, MalformedCiphertext
from split_he.host import HostAdapter, parse
from split_he.modular import Integers, centre
from split_he.params import N, Q
from split_he.transform import inverse
from tests.split_he.sessions import Session, matrix, session, state


def _opened(side: Session, ciphertexts: Integers) -> Integers:
    """Coefficients [v, N] that the device reads in ciphertexts [v, 2, N]."""
    return inverse(centre(ciphertexts[:, 0] + side.keys.times_secret(ciphertexts[:, 1])))


def _unused(side: Session, group: int) -> np.ndarray:
    return np.setdiff1d(np.arange(N), side.plan.used(group))


def test_a_blind_is_given_out_once_and_made_when_none_is_ready() -> None:
    side = session(matrix(64, 4))
    side.host_key.refill(3)
    taken = [side.host_key.take() for _ in range(5)]
    assert side.host_key.blinds == 0
    for i in range(5):
        for j in range(i):
            assert not (taken[i] == taken[j]).any()


def test_a_pool_keeps_a_bounded_number() -> None:
    side = session(matrix(8, 1))
    side.host_key.refill(2)
    with pytest.raises(BlindsExhausted):
        side.host_key.refill(63)
    assert side.host_key.blinds == 2


def test_a_blind_is_gone_even_when_evaluation_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    side = session(matrix(64, 4))
    side.host_key.refill(2)
    query = device.encrypt(state(64), side.keys, side.plan)
    with pytest.raises(MalformedCiphertext):
        side.adapter.evaluate(query[:-1], side.host_key)
    assert side.host_key.blinds == 2  # nothing of it was shown to anybody

    def fails(self: HostAdapter, ciphertexts: Integers) -> Integers:
        raise MemoryError

    monkeypatch.setattr(HostAdapter, "multiply", fails)
    with pytest.raises(MemoryError):
        side.adapter.evaluate(query, side.host_key)
    assert side.host_key.blinds == 1


def test_unused_coefficients_are_uniform_and_used_ones_carry_noise_alone() -> None:
    from scipy import stats

    side = session(matrix(300, 20))
    hidden, noise = [], []
    for _ in range(20):
        opened = _opened(side, side.host_key.take())
        for group in range(side.plan.groups):
            hidden.append(opened[group, _unused(side, group)])
            noise.append(opened[group, side.plan.used(group)])
    assert stats.kstest(np.concatenate(hidden) / Q + 0.5, "uniform").pvalue > 1e-4
    spread = np.concatenate(noise)
    assert np.abs(spread).max() < 42 * N + 21
    assert spread.std() == pytest.approx((10.5 * (4 / 3 * N + 1)) ** 0.5, rel=0.15)


def test_both_halves_of_a_blind_look_uniform() -> None:
    from scipy import stats

    side = session(matrix(64, 4))
    blinds = np.stack([side.host_key.take() for _ in range(20)])
    for half in range(2):
        values = blinds[:, :, half].reshape(-1) / Q + 0.5
        assert stats.kstest(values, "uniform").pvalue > 1e-4


def test_what_the_device_opens_in_unused_coefficients_tells_nothing_about_the_adapter() -> None:
    from scipy import stats

    side, h = session(matrix(256, 8)), state(256)
    query = device.encrypt(h, side.keys, side.plan)
    bare = _opened(side, side.adapter.multiply(parse(query, side.plan)))
    blinded = _opened(
        side, centre(side.adapter.multiply(parse(query, side.plan)) + side.host_key.take())
    )
    difference = centre(blinded - bare)[0]
    assert stats.kstest(difference[_unused(side, 0)] / Q + 0.5, "uniform").pvalue > 1e-4
    assert np.abs(difference[side.plan.used(0)]).max() < 2000
