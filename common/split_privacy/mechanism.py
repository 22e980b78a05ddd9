"""Rows of an embedding table, released with noise.

A row is scaled down to norm ``clip`` where it is longer, rounded to a grid whose step is sigma /
WIDTH, and a discrete Gaussian is added in whole numbers. Whatever happens to the sum afterwards
(the product with the step, rounding to a wire's dtype) does not look at the row again: it is
post-processing and costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_privacy.discrete import (
    SLACK_PER_COORDINATE,
    WIDTH,
    WORDS_PER_DRAW,
    discrete_gaussian,
    epsilon_of_release,
)
from split_privacy.errors import InvalidPrivacyParameter
from split_privacy.gaussian import mu_of
from split_privacy.prf import RowName, RowStreams

# Of float64 arithmetic in clipping and in dividing by the step, relative; generous.
_ROUNDING = 1e-9
# Whole numbers of a grid stay exact in float64 up to here.
_MOST_STEPS = 1 << 52
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class RowMechanism:
    """Noise of ``sigma`` in each of ``width`` coordinates of rows of norm at most ``clip``.

    ``sensitivity``: the largest distance between two clipped rows, before they are rounded.
    Raises InvalidPrivacyParameter.
    """

    sigma: float
    clip: float
    sensitivity: float
    width: int

    def __post_init__(self) -> None:
        for name in ("sigma", "clip", "sensitivity", "width"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise InvalidPrivacyParameter(name, getattr(self, name), "a finite number above 0")
        if self.clip / self.step > _MOST_STEPS:
            raise InvalidPrivacyParameter("sigma", self.sigma, "at least a 2^30th of clip")

    @classmethod
    def for_epsilon(
        cls, epsilon: float, delta: float, clip: float, sensitivity: float, width: int
    ) -> RowMechanism:
        """The least noise with which one row is (epsilon, delta), rounding and all included.

        Raises InvalidPrivacyParameter.
        """
        slack = width * SLACK_PER_COORDINATE
        mu = mu_of(epsilon - slack, delta * (1.0 - slack))
        room = mu - _rounding_steps(width) / WIDTH
        if room <= 0.0:
            raise InvalidPrivacyParameter("epsilon", epsilon, "larger; no noise gives so little")
        return cls(sensitivity * (1 + _ROUNDING) / room, clip, sensitivity, width)

    @property
    def step(self) -> float:
        """Of the grid."""
        return self.sigma / WIDTH

    @property
    def distance(self) -> float:
        """The largest distance between two clipped and rounded rows."""
        return self.sensitivity * (1 + _ROUNDING) + self.step * _rounding_steps(self.width)

    @property
    def mu(self) -> float:
        """Of one row."""
        return self.distance / self.sigma

    def epsilon(self, delta: float, rows: int = 1) -> float:
        """The epsilon at ``delta`` when ``rows`` rows are replaced; infinite where none holds."""
        return epsilon_of_release(delta, math.sqrt(rows) * self.mu, rows * self.width)

    def release(
        self, rows: NDArray[np.float32], names: list[RowName], streams: RowStreams
    ) -> NDArray[np.float32]:
        """Noised ``rows`` float32 [n, width]; the noise of each is that of its name."""
        noised = self.on_grid(rows) + self.noise(names, streams)
        with np.errstate(over="ignore"):
            return (noised * self.step).astype(np.float32)

    def on_grid(self, rows: NDArray[np.float32]) -> NDArray[np.int64]:
        """Clipped rows in whole steps, int64 [n, width]."""
        return np.rint(clipped(rows, self.clip) / self.step).astype(np.int64)

    def noise(self, names: list[RowName], streams: RowStreams) -> NDArray[np.int64]:
        """The noise of the rows that are named, in whole steps, int64 [n, width]."""
        per_row = WORDS_PER_DRAW * self.width
        words = np.concatenate([streams.words(name, per_row) for name in names])

        def more(index: int, bits: int) -> int:
            return streams.more(names[index // per_row], index % per_row, bits)

        draws = discrete_gaussian(words.reshape(-1, WORDS_PER_DRAW), more)
        return draws.reshape(len(names), self.width)


def clipped(rows: NDArray[np.float32], clip: float) -> NDArray[np.float64]:
    """Rows [n, width] whose norm is at most ``clip``, in the direction they had."""
    wide = rows.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = wide * np.minimum(1.0, clip / np.maximum(norms, _TINY))
    return scaled


def _rounding_steps(width: int) -> float:
    """The distance that rounding can add between two rows, in steps."""
    return math.sqrt(width) * (1.0 + _ROUNDING)
