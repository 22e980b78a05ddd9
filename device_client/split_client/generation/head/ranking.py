"""The one order of tokens: by (-logit, id)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def rank(
    ids: NDArray[np.int64], logits: NDArray[Any], k: int | None = None
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """``ids`` [n] and ``logits`` [n] by falling logit, equal logits by rising id; the first k."""
    order = np.lexsort((ids, -logits))[:k]
    return ids[order], logits[order]


def rank_all(logits: NDArray[Any], k: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The first ``k`` of ``rank`` over all ids 0..n-1, without sorting all."""
    if k <= 0:
        return np.empty(0, np.int64), logits[:0]
    if k >= logits.size:
        return rank(np.arange(logits.size), logits)
    threshold = np.partition(logits, logits.size - k)[logits.size - k]
    reaching = np.flatnonzero(logits >= threshold)
    return rank(reaching, logits[reaching], k)


def kth_largest_at_least(values: NDArray[np.float32], k: int, group: int) -> float:
    """A value that at least ``k`` of ``values`` reach, close to the k-th largest; NaN never counts.

    values: [n], n a multiple of ``group``. The k-th largest of the group maxima is reached by k
    different groups, and finding it touches n / group values instead of n.
    """
    # Groups are strided so that the maxima are taken of whole vectors.
    maxima = np.fmax.reduce(values.reshape(group, -1), axis=0)
    if k > maxima.size:
        maxima = values
    if k > maxima.size:
        return -np.inf
    kth = np.partition(np.nan_to_num(maxima, nan=-np.inf, posinf=np.inf, neginf=-np.inf), -k)[-k]
    return float(kth)
