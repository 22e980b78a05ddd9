"""An attack's answer: for every position the tokens it holds likeliest, best first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

KEPT = 5


@dataclass(frozen=True, slots=True)
class Guess:
    """``ranked`` [positions, KEPT]; the first column holds each token that is likeliest by itself.

    ``whole``: the text that is likeliest as one, where the attack weighs whole texts.
    """

    ranked: NDArray[np.int64]
    whole: tuple[int, ...] | None = None

    @property
    def tokens(self) -> list[int]:
        """The attack's text."""
        if self.whole is not None:
            return list(self.whole)
        return [int(index) for index in self.ranked[:, 0]]


def best(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """The KEPT highest of ``scores`` [V], best first, ties by id."""
    count = min(KEPT, scores.size)
    # A partition leaves ties at its border in no particular order, so all of them are ranked.
    border = np.partition(scores, scores.size - count)[scores.size - count]
    candidates = np.flatnonzero(scores >= border)
    order = np.lexsort((candidates, -scores[candidates]))[:count]
    return np.asarray(candidates[order], dtype=np.int64)


def ranked(scores: NDArray[np.float64]) -> Guess:
    """The guess that takes the highest of ``scores`` [positions, V] at every position."""
    return Guess(np.stack([best(row) for row in scores]))
