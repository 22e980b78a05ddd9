"""Public keys that no honest device makes: what they tell of a blind's u, and what they leave."""

from __future__ import annotations

import math

import numpy as np
import pytest

from split_he import blinds, wire
from split_he.host import HostAdapter, parse
from split_he.layout import packing
from split_he.modular import Integers, centre, residues
from split_he.params import N, Q
from split_he.sampling import ERROR_LIMIT, Entropy, ternary
from split_he.transform import forward, inverse
from tests.split_he.sessions import matrix

# Ternary digits that one 54-bit coefficient holds above an error of up to 21.
DIGITS = 30
# Larger than twice the largest error, so that a digit is read through it.
_STEP = 2 * ERROR_LIMIT + 1


def _crafted() -> Integers:
    """b with which coefficient p of b u is the sum over i of STEP 3^i u_(p-i): digits of u."""
    b = np.zeros(N, dtype=np.int64)
    b[:DIGITS] = [_STEP * 3**i for i in range(DIGITS)]
    return b


def _digits(value: int) -> list[int]:
    """The balanced ternary digits of a coefficient, least first."""
    left, found = round(value / _STEP), []
    for _ in range(DIGITS):
        digit = (left + 1) % 3 - 1
        found.append(digit)
        left = (left - digit) // 3
    return found


def test_thirty_digits_are_what_a_coefficient_holds() -> None:
    largest = _STEP * (3**DIGITS - 1) // 2 + ERROR_LIMIT
    assert largest < Q // 2 < _STEP * (3 ** (DIGITS + 1) - 1) // 2


def test_a_crafted_key_reads_thirty_coordinates_of_u_from_each_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn: list[Integers] = []

    def told(entropy: Entropy, polynomials: int) -> Integers:
        drawn.append(ternary(entropy, polynomials))
        return drawn[-1]

    monkeypatch.setattr(blinds, "ternary", told)
    adapter = HostAdapter.prepare(matrix(256, 8))
    plan = adapter.packing
    public = wire.pack_key(residues(centre(forward(_crafted()))))
    key = adapter.evaluator(public, bytes(32), bytes(32))
    # The half of a query that the device chooses is zero: no weight meets a reply's first half.
    query = parse(wire.pack_query(bytes(32), np.zeros((plan.chunks, N), dtype=np.uint64)), plan)
    reply = centre(adapter.multiply(query) + key.take())
    first = inverse(reply[0, 0])
    (u,) = drawn[0]
    used = plan.used(0).tolist()
    read = [_digits(int(first[at])) for at in used]
    assert read == [[int(u[at - i]) for i in range(DIGITS)] for at in used]
    # What carries no result tells nothing of u: it is uniform.
    others = np.delete(first, used)
    assert abs(others.mean()) < 5 * Q / math.sqrt(12 * others.size)


@pytest.mark.parametrize(
    ("hidden", "rank", "remaining"),
    [(192, 16, 1568), (896, 16, 1778), (1536, 32, 1808), (4096, 32, 1928), (8192, 64, 1898)],
)
def test_the_coordinates_of_u_that_a_crafted_key_leaves_are_those_of_the_page(
    hidden: int, rank: int, remaining: int
) -> None:
    plan = packing(hidden, rank)
    most = max(plan.used(group).size for group in range(plan.groups))
    assert N - DIGITS * most == remaining
