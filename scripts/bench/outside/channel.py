"""What a server sees of a message, made by the product's own noise, and what a row says alone."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from scripts.bench.outside.target import Target
from split_client.noise.calibration import QUANTILE
from split_client.noise.conversation import LAYER
from split_privacy.mechanism import RowMechanism, clipped
from split_privacy.prf import NoiseContext, RowName, RowStreams, histories
from split_privacy.sensitivity import norms

_DTYPE = "f16"


class Channel:
    """Noise of ``level`` times ``clip`` in every value; None: the product's own clip norm."""

    def __init__(self, target: Target, level: float, clip: float | None, seed: int) -> None:
        self._target, self._seed = target, seed
        self.clip = own_clip(target) if clip is None else clip
        self.sigma = level * self.clip
        self._rows = clipped(target.table, self.clip).astype(np.float32)
        self._half_squares = 0.5 * (self._rows.astype(np.float64) ** 2).sum(1)

    def rows(self, tokens: list[int]) -> NDArray[np.float32]:
        """Clipped rows [n, H] without noise."""
        rows: NDArray[np.float32] = self._rows[tokens]
        return rows

    def seen(self, message: list[int], index: int) -> NDArray[np.float32]:
        """The noised rows float32 [n, H] of the tokens of message ``index``, as they travel."""
        tokens = self._target.prompt(message)
        first = len(self._target.before)
        past = histories(tokens)
        places = range(first, first + len(message))
        names = [RowName(at, tokens[at], past[at]) for at in places]
        width = self._target.table.shape[1]
        mechanism = RowMechanism(self.sigma, self.clip, 2 * self.clip, width)
        rows = mechanism.release(self._target.table[message], names, self._streams(index))
        return rows.astype(np.float16).astype(np.float32)

    def evidence(self, seen: NDArray[np.float32]) -> NDArray[np.float64]:
        """Log likelihoods float64 [n, V] of every token, up to a constant of each row."""
        products = (seen @ self._rows.T).astype(np.float64)
        scores: NDArray[np.float64] = (products - self._half_squares) / self.sigma**2
        scores[:, list(self._target.special)] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        return scores

    def _streams(self, index: int) -> RowStreams:
        key = sha256(f"{self._seed} {index} {self.sigma!r}".encode()).digest()
        return RowStreams(NoiseContext(key, LAYER, self.sigma, self.clip, "outside", _DTYPE))


def own_clip(target: Target) -> float:
    """The norm that 99% of the table's rows do not exceed."""
    rows = target.table
    lengths = norms(lambda tokens: rows[tokens], len(rows))
    return float(np.quantile(lengths, QUANTILE, method="higher"))
