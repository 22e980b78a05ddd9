"""Seeded sampling, defined once for Python and JavaScript (``tests/vectors/sampling.json``).

Candidates stand by (-logit, id). Everything below is float64, and sums run from the first
candidate to the last. Weights are exp((logit - first logit) / temperature). The filters keep a
prefix and never nothing; each sees what the one before left:

    top-k   the first k
    top-p   those before which less than top_p of the total weight stands
    min-p   those with at least min_p of the first weight

A draw is the first candidate at which the cumulated weight exceeds u * total, where u is the first
53 bits (big-endian) of SHA-256(seed || draw index), both as u64 little-endian, over 2^53.
"""

import hashlib
import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_client.generation.sampling.params import SamplingParams

_DRAW: Final = struct.Struct("<QQ")


def uniform(seed: int, draw_index: int) -> float:
    """Draw number ``draw_index`` of ``seed``, in [0, 1); both in 0..2^64-1."""
    digest = hashlib.sha256(_DRAW.pack(seed, draw_index)).digest()
    return float((int.from_bytes(digest[:8], "big") >> 11) / 2**53)


def kept_weights(ranked: NDArray[np.float64], params: SamplingParams) -> NDArray[np.float64]:
    """Unnormalised weights [m] of the candidates that the filters keep, a prefix of ``ranked``.

    ranked: logits [n], n >= 1, by (-logit, id); ``params.temperature`` is above 0.
    """
    weights = tempered(ranked[: params.top_k or None], params.temperature)
    if params.top_p < 1.0:
        cumulated = np.cumsum(weights)
        before = int(np.searchsorted(cumulated, params.top_p * cumulated[-1], side="left"))
        weights = weights[: before + 1]
    if params.min_p > 0.0:
        weights = weights[: int(np.count_nonzero(weights >= params.min_p * weights[0]))]
    return weights


def tempered(ranked: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """exp((logit - first) / temperature) of ranked logits [n]; the first weight is 1."""
    with np.errstate(under="ignore", over="ignore"):
        weights: NDArray[np.float64] = np.exp((ranked - ranked[0]) / temperature)
    return weights


def pick(weights: NDArray[np.float64], u: float) -> int:
    """The index of the first of ``weights`` at which their sum exceeds u times the total."""
    cumulated = np.cumsum(weights)
    index = int(np.searchsorted(cumulated, u * cumulated[-1], side="right"))
    # u * total may round up to the total; the last candidate with a weight is meant then.
    last = int(np.searchsorted(cumulated, cumulated[-1], side="left"))
    return min(index, last)
