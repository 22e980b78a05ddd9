"""Confidence intervals by the percentile bootstrap over prompts (Efron and Tibshirani 1993).

Prompts are drawn, not tokens: the tokens of one prompt are no independent samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf

import numpy as np
from numpy.typing import NDArray

from split_client.audit.scoring.proportions import lower, upper

# Of fewer prompts resamples tell less than there is to doubt: two that agree have no spread.
FEW = 8
RESAMPLES = 2000
_LEVEL = 0.95
# Rounding of a count that a share was made of.
_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with the ends of its 95% confidence interval."""

    value: float
    low: float
    high: float


class Bootstrap:
    """The same resamples for every measure, so that differences are paired."""

    def __init__(self, prompts: int, seed: int) -> None:
        self._prompts = prompts
        self._draws = np.random.default_rng([seed, 77]).integers(0, prompts, (RESAMPLES, prompts))

    def ratio(self, pairs: NDArray[np.float64]) -> Figure:
        """Sum of numerators over sum of denominators of ``pairs`` [prompts, 2].

        Of a single prompt the interval is infinitely wide.
        """
        figure = self._resampled(pairs)
        return figure if self._prompts > 1 else Figure(figure.value, -inf, inf)

    def share(self, pairs: NDArray[np.float64]) -> Figure:
        """:meth:`ratio` of what lies between 0 and 1.

        Of few prompts at least as wide as the exact interval (Clopper, Pearson 1934) of so many
        trials, as if all tokens of a prompt were recovered or none.
        """
        figure = self._resampled(pairs)
        if self._prompts >= FEW:
            return figure
        trials, hits = self._prompts, figure.value * self._prompts
        low = lower(floor(hits + _EXACT), trials, (1 - _LEVEL) / 2)
        high = upper(ceil(hits - _EXACT), trials, (1 - _LEVEL) / 2)
        return Figure(figure.value, min(figure.low, low), max(figure.high, high))

    def _resampled(self, pairs: NDArray[np.float64]) -> Figure:
        return _figure(_ratio(pairs.sum(axis=0)), _ratio(pairs[self._draws].sum(axis=1)))

    def excess(self, pairs: NDArray[np.float64], base: NDArray[np.float64]) -> Figure:
        """The excess of the share of ``pairs`` over that of ``base``, prompt by prompt."""
        if self._prompts < FEW:
            one, other = self.share(pairs), self.share(base)
            low, high = one.low - other.high, one.high - other.low
            return Figure(one.value - other.value, low, high)
        value = _ratio(pairs.sum(axis=0)) - _ratio(base.sum(axis=0))
        drawn = _ratio(pairs[self._draws].sum(axis=1)) - _ratio(base[self._draws].sum(axis=1))
        return _figure(value, drawn)


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / np.maximum(sums[..., 1], 1.0))


def _figure(value: NDArray[np.float64], drawn: NDArray[np.float64]) -> Figure:
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Figure(float(value), float(low), float(high))
