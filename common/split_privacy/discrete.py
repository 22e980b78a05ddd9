"""Discrete Gaussian noise of one fixed, large width from uniform 64-bit words.

X = A + SPREAD * B, where A and B are discrete Gaussians of parameter BASE by inversion of their
exact distribution function. A word decides by itself unless its 63 bits fall on a threshold's;
then more bits are drawn until they decide (Knuth, Yao 1976), so A and B are exact.

How close the mechanism "add X to whole numbers" is to the Gaussian mechanism, N coordinates, in
units where the parameter of X is WIDTH = BASE * sqrt(1 + SPREAD^2):

- X against the discrete Gaussian of parameter WIDTH: every probability is within a factor
  1 +- 4 exp(-2 pi^2 BASE^2 / (1 + SPREAD^2)) = 1 +- 3e-43 (Poisson summation; Micciancio, Walter
  2017, theorem 3, is the general statement).
- that against round(v + N(0, WIDTH^2)), a Gaussian release whose rounding is post-processing: the
  ratio of probabilities of k = z WIDTH is between exp(-1/(24 WIDTH^2)) and exp(z^2/(24 WIDTH^2)),
  and the sum of z^2 exceeds 100 N with probability at most exp(-46 N) (Chernoff).

Together: what is (epsilon, delta) for the Gaussian mechanism is (epsilon + slack,
delta (1 + slack)) here with slack = 5 N / WIDTH^2, as long as epsilon is below
40 N - 30 + ln(delta). :func:`epsilon_of_release` counts it.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_privacy.gaussian import epsilon_of
from split_privacy.thresholds import thresholds

BASE: Final = 2300
SPREAD: Final = 1024
WIDTH: Final = BASE * math.sqrt(1 + SPREAD * SPREAD)
SLACK_PER_COORDINATE: Final = 5.0 / WIDTH**2
WORDS_PER_DRAW: Final = 2
_BITS: Final = 63
_MORE_BITS: Final = 192
_LARGEST_EPSILON_PER_COORDINATE: Final = 40.0
_LARGEST_EPSILON_LESS: Final = 30.0

# (index of a word, how many bits) to that many further uniform bits for it, the first ones of a
# stream: a longer answer begins with the shorter one.
MoreBits = Callable[[int, int], int]


def epsilon_of_release(delta: float, mu: float, coordinates: int) -> float:
    """The epsilon at ``delta`` of discrete releases whose mu^2 add up to mu^2.

    ``coordinates``: how many values were released. Infinite where nothing is proven.
    """
    if coordinates == 0:
        return 0.0
    slack = coordinates * SLACK_PER_COORDINATE
    if slack >= 0.5:
        return math.inf
    epsilon = epsilon_of(delta * (1.0 - slack), mu)
    largest = _LARGEST_EPSILON_PER_COORDINATE * coordinates - _LARGEST_EPSILON_LESS
    return math.inf if epsilon > largest + math.log(delta) else epsilon + slack


def discrete_gaussian(words: NDArray[np.uint64], more: MoreBits) -> NDArray[np.int64]:
    """Draws [n] of parameter WIDTH from uniform ``words`` [n, 2]; ``more`` counts row by row."""
    return combined(exact_base(words.reshape(-1), more).reshape(-1, WORDS_PER_DRAW))


def combined(base: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draws [n] of parameter WIDTH from pairs [n, 2] of parameter BASE."""
    result: NDArray[np.int64] = base[:, 0] + SPREAD * base[:, 1]
    return result


def exact_base(
    words: NDArray[np.uint64], more: MoreBits, s: int = BASE, bits: int = _BITS
) -> NDArray[np.int64]:
    """Exact discrete Gaussians [n] of parameter ``s`` from uniform ``words`` [n].

    A word's lowest bit is the sign, its upper ``bits`` the beginning of a uniform number.
    """
    table = _table(s, bits)
    uniform = words >> np.uint64(64 - bits)
    magnitude = np.searchsorted(table, uniform, side="right")
    open_ = np.flatnonzero(table[np.maximum(magnitude, 1) - 1] == uniform)
    for index in open_.tolist():
        magnitude[index] = _decided(int(uniform[index]), index, more, s, bits)
    negative = (words & np.uint64(1)).astype(np.int64)
    return np.where(negative == 1, -magnitude, magnitude)


def _decided(uniform: int, index: int, more: MoreBits, s: int, bits: int) -> int:
    """The magnitude where the first ``bits`` are those of a threshold."""
    extra = _MORE_BITS
    while True:
        exact = _exact_table(s, bits + extra)
        number = (uniform << extra) | more(index, extra)
        magnitude = bisect_right(exact, number)
        if magnitude == 0 or exact[magnitude - 1] != number:
            return magnitude
        extra *= 2


@cache
def _table(s: int, bits: int) -> NDArray[np.uint64]:
    table = np.array(thresholds(s, bits), np.uint64)
    table.setflags(write=False)
    return table


@cache
def _exact_table(s: int, bits: int) -> list[int]:
    return thresholds(s, bits)
