"""The standard normal distribution, accurate in relative terms far into its tails.

Mills' ratio, the upper tail over the density, neither underflows nor cancels where the tail itself
is too small for a float64.
"""

from __future__ import annotations

import math
from typing import Final

_ROOT_TWO: Final = math.sqrt(2.0)
_ROOT_TWO_PI: Final = math.sqrt(2.0 * math.pi)
# From here on the continued fraction gives every bit, before ``erfc`` loses any (at about 37).
_FRACTION_FROM: Final = 6.0
_FRACTION_TERMS: Final = 60


def cdf(x: float) -> float:
    """P[N(0, 1) <= x]."""
    return 0.5 * math.erfc(-x / _ROOT_TWO)


def density(x: float) -> float:
    """The density of N(0, 1); 0 where it underflows."""
    return math.exp(-0.5 * x * x) / _ROOT_TWO_PI


def mills(x: float) -> float:
    """P[N(0, 1) > x] / density(x) for x >= 0.

    Laplace's continued fraction 1/(x + 1/(x + 2/(x + 3/...))) for large x (Abramowitz and Stegun
    26.2.14).
    """
    if x < _FRACTION_FROM:
        return 0.5 * math.erfc(x / _ROOT_TWO) / density(x)
    value = x
    for term in range(_FRACTION_TERMS, 0, -1):
        value = x + term / value
    return 1.0 / value
