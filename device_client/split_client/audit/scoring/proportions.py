"""Exact confidence bounds of a proportion (Clopper and Pearson 1934), without scipy."""

from __future__ import annotations

import math
from collections.abc import Callable

_HALVINGS = 60


def upper(successes: int, trials: int, alpha: float) -> float:
    """The largest p for which ``successes`` or fewer still have probability ``alpha``."""
    if successes >= trials:
        return 1.0
    return _solve(lambda p: at_most(successes, trials, p) >= alpha)


def lower(successes: int, trials: int, alpha: float) -> float:
    """The smallest p for which ``successes`` or more still have probability ``alpha``."""
    return 1.0 - upper(trials - successes, trials, alpha)


def at_most(successes: int, trials: int, p: float) -> float:
    """P[Binomial(trials, p) <= successes], summed from the logarithms of its terms."""
    if p <= 0.0:
        return 1.0
    if p >= 1.0:
        return 1.0 if successes >= trials else 0.0
    term = trials * math.log1p(-p)
    odds = math.log(p) - math.log1p(-p)
    terms = [term]
    for k in range(successes):
        term += math.log((trials - k) / (k + 1)) + odds
        terms.append(term)
    peak = max(terms)
    return min(1.0, math.exp(peak) * math.fsum(math.exp(one - peak) for one in terms))


def _solve(holds: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if holds(middle):
            low = middle
        else:
            high = middle
    return high
