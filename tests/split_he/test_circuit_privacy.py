"""Leaks of A through replies: with blinds, without, and to a device that does not play fair.

The shape 256 x 8 fills one group: its 2,048 coefficients are the whole of A.
"""

from __future__ import annotations

import numpy as np
import pytest

from split_he import device, wire
from split_he.blinds import HostKey
from split_he.device import QUERY_LABEL
from split_he.host import parse, plaintexts
from split_he.modular import Integers, centre, centred, residues
from split_he.params import N, Q
from split_he.sampling import expand
from split_he.transform import forward, inverse
from tests.split_he.sessions import Session, matrix, session, state


@pytest.fixture(scope="module")
def side() -> Session:
    return session(matrix(256, 8))


@pytest.fixture(scope="module")
def truth(side: Session) -> Integers:
    """The 2,048 coefficients of A, as the host rounded them."""
    return plaintexts(side.a.astype(np.float64), side.plan)[0, 0]


def _divided(products: Integers, factors: Integers) -> Integers:
    """Coefficients of the polynomial with products / factors at the roots."""
    pairs = zip(products.tolist(), factors.tolist(), strict=True)
    return inverse(np.array([p * pow(f, -1, Q) % Q for p, f in pairs], dtype=np.int64))


def _known(found: Integers, truth: Integers) -> int:
    return int((found == truth).sum())


def test_a_reply_without_a_blind_reveals_every_coefficient_by_division(
    side: Session, truth: Integers
) -> None:
    ciphertexts = parse(device.encrypt(state(256), side.keys, side.plan), side.plan)
    bare = side.adapter.multiply(ciphertexts)
    assert _known(_divided(bare[0, 1], ciphertexts[0, 1]), truth) == 2048
    assert _known(_divided(bare[0, 0], ciphertexts[0, 0]), truth) == 2048


def test_a_reply_reveals_no_coefficient_by_division(side: Session, truth: Integers) -> None:
    query = device.encrypt(state(256), side.keys, side.plan)
    ciphertexts = parse(query, side.plan)
    reply = centred(wire.parse_reply(side.adapter.evaluate(query, side.host_key), side.plan))
    opened = centre(reply[0, 0] + side.keys.times_secret(reply[0, 1]))
    message = centre(ciphertexts[0, 0] + side.keys.times_secret(ciphertexts[0, 1]))
    for products, factors in (
        (reply[0, 0], ciphertexts[0, 0]),
        (reply[0, 1], ciphertexts[0, 1]),
        (opened, message),
    ):
        assert _known(_divided(products, factors), truth) == 0


STEP = 2**8
"""Larger than twice the largest error, so that a multiple of it is read through the error."""


def _crafted(side: Session) -> Integers:
    """The ciphertext (0, STEP), which no seed expands to."""
    constant = np.zeros((1, 2, N), dtype=np.int64)
    constant[0, 1] = STEP
    return constant


def test_a_zero_key_takes_all_coefficients_from_an_evaluator_that_accepts_uniform_halves(
    side: Session, truth: Integers
) -> None:
    zero = np.zeros(N, dtype=np.uint64)
    trusting = HostKey((zero, zero), side.plan)
    reply = centre(side.adapter.multiply(_crafted(side)) + trusting.take())
    found = np.rint(inverse(reply[0, 1]) / STEP).astype(np.int64)
    assert _known(found, truth) == 2048


def test_the_agreed_uniform_half_stops_that(side: Session, truth: Integers) -> None:
    zero = wire.pack_key(np.zeros(N, dtype=np.uint64))
    key = side.adapter.evaluator(zero, side.host_nonce, side.device_nonce)
    reply = centre(side.adapter.multiply(_crafted(side)) + key.take())
    for half in range(2):
        found = np.rint(inverse(reply[0, half]) / STEP).astype(np.int64)
        used = side.plan.used(0)
        assert _known(np.delete(found, used), np.delete(truth, used)) == 0


def test_one_crafted_query_yields_two_weights_of_each_row_instead_of_one_sum(
    side: Session,
) -> None:
    seed, low, high = bytes(32), 2**12, 2**33
    message = np.zeros((1, N), dtype=np.int64)
    message[0, [10, 11]] = low, high
    uniform = centred(expand(QUERY_LABEL, seed, 1))
    halves = residues(centre(forward(message) - side.keys.times_secret(uniform)))
    reply = side.adapter.evaluate(wire.pack_query(seed, halves), side.host_key)
    sums = np.rint(device.decrypt(reply, side.keys, side.plan) * side.plan.scale).astype(np.int64)
    second = np.rint(sums / high).astype(np.int64)
    first = np.rint((sums - second * high) / low).astype(np.int64)
    rounded = np.rint(side.a.astype(np.float64) * side.plan.weight_scale).astype(np.int64)
    assert (second == rounded[:, 11]).all()
    assert (first == rounded[:, 10]).all()


def test_as_many_honest_queries_as_dimensions_give_the_adapter_away() -> None:
    side = session(matrix(24, 3))
    inputs = np.stack([state(24, seed) for seed in range(24)])
    answers = np.stack([side.ask(h) for h in inputs])
    found = np.linalg.solve(inputs.astype(np.float64), answers).T
    assert np.abs(found - side.a).max() < 1e-4
