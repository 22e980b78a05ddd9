"""Nearest neighbour: which row of the embedding table lies closest to the row that was sent."""

from __future__ import annotations

from collections.abc import Sequence

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
    return likelihoods_of([(rows, mechanism)], model)[0]


def likelihoods_of(
    seen: Sequence[tuple[NDArray[np.float32], Mechanism]], model: PublicModel
) -> list[NDArray[np.float64]]:
    """:func:`log_likelihoods` of rows from mechanisms of one clip, in one look at the table."""
    rows = np.concatenate([each for each, _ in seen])
    distances = _distances(rows, model, seen[0][1].clip)
    ends = np.cumsum([len(each) for each, _ in seen])[:-1]
    return [
        _likelihoods(part, own, mechanism.sigma)
        for part, (own, mechanism) in zip(np.split(distances, ends), seen, strict=True)
    ]


def _distances(
    rows: NDArray[np.float32], model: PublicModel, clip: float | None
) -> NDArray[np.float64]:
    sent = rows.astype(np.float64)
    distances = np.empty((len(rows), model.vocabulary))
    own = (sent * sent).sum(axis=1)[:, None]
    for start, table, squares in model.clipped_blocks(clip):
        distances[:, start : start + len(table)] = own - 2 * (sent @ table.T) + squares
    return distances


def _likelihoods(
    distances: NDArray[np.float64], rows: NDArray[np.float32], sigma: float
) -> NDArray[np.float64]:
    sent = rows.astype(np.float64)
    sigma = max(sigma, _ROUNDING * float(np.sqrt((sent * sent).mean())), 1e-12)
    return np.asarray(-np.maximum(distances, 0.0) / (2 * sigma * sigma))


def nearest(likelihoods: NDArray[np.float64]) -> Guess:
    """The guess of :func:`log_likelihoods` alone."""
    return ranked(likelihoods)
