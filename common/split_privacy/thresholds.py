"""Cumulative probabilities of a discrete Gaussian, every bit of them correct.

For X with P[X = k] proportional to exp(-k^2 / 2 s^2) over the integers (Canonne, Kamath, Steinke
2020), ``thresholds(s, bits)[j]`` is floor(2^bits P[|X| <= j]). Whole-number arithmetic with a bound
on every rounding; where that bound leaves a floor open, more bits are computed.
"""

from __future__ import annotations

from itertools import accumulate

_GUARD_BITS = 96


def thresholds(s: int, bits: int) -> list[int]:
    """The floors for j = 0, 1, ... up to and with the first that is 2^bits - 1."""
    guard = _GUARD_BITS
    while True:
        found = _thresholds(s, bits, bits + guard)
        if found is not None:
            return found
        guard *= 2


def _thresholds(s: int, bits: int, precision: int) -> list[int] | None:
    """None where ``precision`` bits behind the point do not tell every floor."""
    weights = _weights(s, precision)
    # Rounding of all weights, and the mass beyond the last, are less than this many units: each
    # factor is off by at most 200(j+1), so each weight by 200(j+2)^2, and beyond the last weight,
    # which is below one unit but for its error, the rest is at most s^2/n + 1 times it.
    error = 400 * (len(weights) + 2) ** 3
    sums = list(accumulate((2 * weight for weight in weights[1:]), initial=weights[0]))
    total, largest = sums[-1], (1 << bits) - 1
    found: list[int] = []
    for cumulated in sums:
        low = (max(0, cumulated - error) << bits) // (total + error)
        high = min(largest, ((cumulated + error) << bits) // (total - error))
        if low != high:
            # The probabilities approach 1 from below, so at the end only the last floor is left.
            return [*found, largest] if _rest_below(cumulated, total, error, bits) else None
        found.append(low)
        if low == largest:
            return found
    return None


def _rest_below(cumulated: int, total: int, error: int, bits: int) -> bool:
    """Whether the mass beyond is surely less than one part in 2^bits."""
    return (total - cumulated + 2 * error) << bits < total - error


def _weights(s: int, precision: int) -> list[int]:
    """exp(-j^2 / 2 s^2) * 2^precision for j = 0, 1, ... while it is at least one unit."""
    one = 1 << precision
    factor, change = _exp_of_minus(one // (2 * s * s), one), _exp_of_minus(one // (s * s), one)
    weights, weight = [], one
    while weight:
        weights.append(weight)
        weight = weight * factor >> precision
        factor = factor * change >> precision
    return weights


def _exp_of_minus(x: int, one: int) -> int:
    """e^(-x / one) * one by Taylor's series, for 0 <= x < one."""
    total, term, index = one, one, 0
    while term:
        index += 1
        term = term * x // (one * index)
        total += term if index % 2 == 0 else -term
    return total
