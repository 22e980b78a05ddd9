"""Confidence intervals by the percentile bootstrap over prompts (Efron and Tibshirani 1993).

Prompts are drawn, not tokens: the tokens of one prompt are no independent samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with the ends of its 95% confidence interval."""

    value: float
    low: float
    high: float


class Bootstrap:
    """The same resamples for every measure, so that differences are paired."""

    def __init__(self, prompts: int, seed: int) -> None:
        self._draws = np.random.default_rng([seed, 77]).integers(0, prompts, (RESAMPLES, prompts))

    def ratio(self, pairs: NDArray[np.float64]) -> Figure:
        """Sum of numerators over sum of denominators of ``pairs`` [prompts, 2]."""
        return _figure(_ratio(pairs.sum(axis=0)), _ratio(pairs[self._draws].sum(axis=1)))

    def excess(self, pairs: NDArray[np.float64], base: NDArray[np.float64]) -> Figure:
        """The excess of the ratio of ``pairs`` over that of ``base``, prompt by prompt."""
        value = _ratio(pairs.sum(axis=0)) - _ratio(base.sum(axis=0))
        drawn = _ratio(pairs[self._draws].sum(axis=1)) - _ratio(base[self._draws].sum(axis=1))
        return _figure(value, drawn)


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1.0))


def _figure(value: NDArray[np.float64], drawn: NDArray[np.float64]) -> Figure:
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Figure(float(value), float(low), float(high))
