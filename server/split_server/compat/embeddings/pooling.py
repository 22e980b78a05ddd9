"""One vector of the hidden states of a text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_server.compat.embeddings.request import Pooling

Vector = NDArray[np.float32]


class Pooled:
    """States come in pieces, so that those of a long text are never held at once."""

    def __init__(self, pooling: Pooling, width: int) -> None:
        self._mean = pooling == "mean"
        self._sum = np.zeros(width, np.float64)

    def add(self, states: NDArray[np.float32]) -> None:
        """The next states [n, H]."""
        self._sum = self._sum + states.sum(0, np.float64) if self._mean else states[-1]

    def vector(self) -> Vector:
        """Of length 1, but for one of zeros: [H]."""
        vector = np.asarray(self._sum, np.float64)
        length = float(np.linalg.norm(vector))
        return np.asarray(vector / length if length else vector, np.float32)
