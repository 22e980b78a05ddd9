"""Proofs from bounds of all logits: who can be in the top k, and how much weight the rest has."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.ranking import kth_largest_at_least
from split_client.generation.head.screen.bounds import Bounds
from split_client.generation.head.spec import HeadSpec

_GROUP: Final = 16
# Room for float32 exponentials; those that underflow weigh less than 2^-149 each.
_WEIGHT_SLACK: Final = 2.0**-10
_UNDERFLOW: Final = 2.0**-110
# Below it float32 loses digits, and in the end the whole temperature.
_LEAST_FLOAT32: Final = 2.0**-126


class Interval(NamedTuple):
    """low <= the true value <= high."""

    low: float
    high: float


def candidates(
    bounds: Bounds, rows: int, k: int, also: NDArray[np.int64], spec: HeadSpec
) -> NDArray[np.int64]:
    """Rising ids of all rows outside ``also`` that can be among the first ``k``.

    Rows of ``also`` and padding lose their bounds.
    """
    lower, upper = bounds
    for bound in bounds:
        bound[also] = -np.inf
        bound[rows:] = -np.inf
    floor = spec.lowest_rival(kth_largest_at_least(lower, k, _GROUP))
    below = upper < np.nextafter(np.float32(floor), np.float32(-np.inf))
    below[also] = True  # also when the floor is -inf
    # "Not below" rather than "above": a row whose bounds are NaN stays.
    return np.flatnonzero(~below[:rows])


def rest_weight(
    bounds: Bounds,
    ids: NDArray[np.int64],
    logits: NDArray[np.float32],
    k: int,
    spec: HeadSpec,
    temperature: float,
) -> Interval:
    """Bounds of the sum of exp((logit - first logit) / temperature) over all but the first ``k``.

    ids, logits: [n], n >= k, the ranked candidates; ``bounds`` as ``candidates`` left them, those
    of ``ids`` are lost.
    """
    for bound in bounds:
        bound[ids] = -np.inf
    first = float(logits[0])
    with np.errstate(over="ignore", under="ignore"):
        beyond = float(np.exp((logits[k:].astype(np.float64) - first) / temperature).sum())
    low, high = (_weight(bound, spec, first, temperature) for bound in bounds)
    return Interval(
        (low + beyond) * (1 - _WEIGHT_SLACK), (high + beyond) * (1 + _WEIGHT_SLACK) + _UNDERFLOW
    )


def _weight(biased: NDArray[np.float32], spec: HeadSpec, first: float, temperature: float) -> float:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        distances = spec.finish_biased(biased) - np.float32(first)
        if temperature < _LEAST_FLOAT32:
            distances = distances.astype(np.float64) / temperature
        else:
            distances /= np.float32(temperature)
        weights = np.exp(np.minimum(distances, 0))
    weights[biased == -np.inf] = 0  # a cap makes them finite
    return float(weights.sum(dtype=np.float64))
