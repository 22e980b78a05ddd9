"""Exact confidence bounds of a proportion (Clopper and Pearson 1934), without scipy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_HALVINGS = 60


def upper(successes: int, trials: int, alpha: float) -> float:
    """The largest p for which ``successes`` or fewer still have probability ``alpha``."""
    if successes >= trials:
        return 1.0
    coefficients = _log_coefficients(successes, trials)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _tail(coefficients, trials, middle) >= alpha:
            low = middle
        else:
            high = middle
    return high


def lower(successes: int, trials: int, alpha: float) -> float:
    """The smallest p for which ``successes`` or more still have probability ``alpha``."""
    return 1.0 - upper(trials - successes, trials, alpha)


def at_most(successes: int, trials: int, p: float) -> float:
    """P[Binomial(trials, p) <= successes] for ``p`` between 0 and 1, both excluded."""
    return _tail(_log_coefficients(successes, trials), trials, p)


def _log_coefficients(successes: int, trials: int) -> NDArray[np.float64]:
    """ln(trials choose k) for k up to ``successes``."""
    k = np.arange(successes, dtype=np.float64)
    return np.concatenate([[0.0], np.cumsum(np.log((trials - k) / (k + 1)))])


def _tail(coefficients: NDArray[np.float64], trials: int, p: float) -> float:
    k = np.arange(coefficients.size, dtype=np.float64)
    terms = coefficients + k * math.log(p) + (trials - k) * math.log1p(-p)
    peak = float(terms.max())
    return min(1.0, math.exp(peak) * float(np.exp(terms - peak).sum()))
