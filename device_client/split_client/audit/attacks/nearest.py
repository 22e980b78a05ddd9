"""Nearest neighbour: which row of the embedding table lies closest to the row that was sent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.guess import Guess, ranked
from split_client.audit.attacks.knowledge import Mechanism, PublicModel

# What rounding alone does to a number, relative to the row's root mean square.
_ROUNDING = 1e-3


def log_likelihoods(
    rows: NDArray[np.float32], model: PublicModel, mechanism: Mechanism
) -> NDArray[np.float64]:
    """log p(row | token) up to a constant, for ``rows`` [n, H] and all tokens: [n, V].

    Gaussian noise of known sigma around the token's clipped row, so the order is that of the
    distances; without noise a small one stands for rounding.
    """
    sent = rows.astype(np.float64)
    distances = np.empty((len(rows), model.vocabulary))
    own = (sent * sent).sum(axis=1)[:, None]
    for start, block in model.blocks():
        table = clipped(block.astype(np.float64), mechanism.clip)
        squares = (table * table).sum(axis=1)[None, :]
        distances[:, start : start + len(block)] = own - 2 * (sent @ table.T) + squares
    sigma = max(mechanism.sigma, _ROUNDING * float(np.sqrt((sent * sent).mean())), 1e-12)
    return np.asarray(-np.maximum(distances, 0.0) / (2 * sigma * sigma))


def nearest(likelihoods: NDArray[np.float64]) -> Guess:
    """The guess of :func:`log_likelihoods` alone."""
    return ranked(likelihoods)


def clipped(rows: NDArray[np.float64], clip: float | None) -> NDArray[np.float64]:
    """``rows`` [n, H] scaled down to norm ``clip`` where they are longer."""
    if clip is None:
        return rows
    norms = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows * np.minimum(1.0, clip / np.maximum(norms, 1e-300)))
