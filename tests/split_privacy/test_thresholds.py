"""Thresholds of the discrete Gaussian against long arithmetic."""

from __future__ import annotations

import mpmath
import pytest

from split_privacy.thresholds import thresholds


def expected(s: int, bits: int, count: int) -> list[int]:
    """floor(2^bits P[|X| <= j]) for the first ``count`` j."""
    with mpmath.workdps(bits // 3 + 40):
        weights = [mpmath.exp(-mpmath.mpf(j * j) / (2 * s * s)) for j in range(40 * s)]
        total = weights[0] + 2 * mpmath.fsum(weights[1:])
        cumulated, found = weights[0], []
        for j in range(count):
            found.append(int(mpmath.floor(cumulated / total * 2**bits)))
            cumulated += 2 * weights[j + 1]
        return found


@pytest.mark.parametrize(("s", "bits"), [(1, 8), (1, 63), (3, 20), (7, 63), (12, 255)])
def test_every_floor_is_right(s: int, bits: int) -> None:
    table = thresholds(s, bits)
    assert table == expected(s, bits, len(table))
    assert table[-1] == 2**bits - 1
    assert table[-1] not in table[:-1]


def test_the_first_bits_of_a_longer_table_are_the_shorter_one() -> None:
    short, long = thresholds(50, 63), thresholds(50, 127)
    assert [value >> 64 for value in long[: len(short)]] == short
