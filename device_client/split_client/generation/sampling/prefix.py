"""Sampling without top-k from the first candidates alone, where that provably changes nothing.

The full definition (``sampling``) ranks the whole vocabulary. Usually the outcome is decided by the
first few candidates: their weights are exact, and the weight of all others is known within bounds
(proven by an exact head, estimated by a compact one). Here the draw is made with the lowest and
with the highest possible total; if both end at the same candidate of the same kept prefix, so does
the full computation.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.candidates import Interval
from split_client.generation.head.head import TopLogits
from split_client.generation.head.ranking import rank
from split_client.generation.sampling.draw import pick, tempered
from split_client.generation.sampling.params import SamplingParams

# How many candidates are tried before all logits are computed, where no top-k limits them.
PREFIX: Final = 256
_ROUNDING: Final = 2.0**-32  # of a float64 sum over up to 2^20 tokens, relative


def draw_from_prefix(
    top: TopLogits,
    affected_ids: NDArray[np.int64],
    affected_logits: NDArray[np.float64],
    rest: Interval,
    params: SamplingParams,
    u: float,
    allowed: NDArray[np.bool_] | None = None,
) -> tuple[int, float] | None:
    """(token id, probability) of draw ``u``, or None where only all logits can tell.

    ``top`` outside the affected tokens, whose adjusted logits are given; ``rest``: bounds of the
    weight of all others relative to the first of ``top``; top-k is off. ``allowed`` [vocab]: the
    only tokens that take part; None: all do.
    """
    ids, logits = rank(
        np.concatenate([top.ids, affected_ids]),
        np.concatenate([top.logits.astype(np.float64), affected_logits]),
    )
    # Up to the last of ``top`` the ranking is that of the whole vocabulary.
    certain = int(np.flatnonzero(ids == top.ids[-1])[0]) + 1
    if allowed is not None:
        taking_part = allowed[ids]
        certain = int(np.count_nonzero(taking_part[:certain]))
        ids, logits = ids[taking_part], logits[taking_part]
        # Any part of the rest may be allowed, none of it included.
        rest = Interval(0.0, rest.high)
    if not certain:
        return None
    weights = tempered(logits, params.temperature)
    unit = float(tempered(np.array([logits[0], top.logits[0]]), params.temperature)[1])
    known = float(weights.sum())
    totals = (
        (known + rest.low * unit) * (1 - _ROUNDING),
        (known + rest.high * unit) * (1 + _ROUNDING),
    )
    outcomes = {_outcome(weights[:certain], total, params, u) for total in totals}
    outcome = outcomes.pop()
    if outcome is None or outcomes:
        return None
    index, kept = outcome
    total = float(weights[:kept].sum()) if kept else sum(totals) / 2
    return int(ids[index]), float(weights[index]) / total


def _outcome(
    weights: NDArray[np.float64], total: float, params: SamplingParams, u: float
) -> tuple[int, int] | None:
    """(index drawn, how many are kept; 0 for all) given the total weight of the vocabulary.

    weights: [n], the first of all by rank. None where the outcome lies beyond them.
    """
    if params.top_p == 1.0 and params.min_p == 0.0:
        index = int(np.searchsorted(np.cumsum(weights), u * total, side="right"))
        return (index, 0) if index < weights.size else None
    kept = weights.size + 1
    if params.top_p < 1.0:
        cumulated = np.cumsum(weights)
        kept = int(np.searchsorted(cumulated, params.top_p * total, side="left")) + 1
    if params.min_p > 0.0:
        reaching = int(np.count_nonzero(weights >= params.min_p * weights[0]))
        kept = min(kept, reaching) if reaching < weights.size else kept
    if kept > weights.size:
        return None
    return pick(weights[:kept], u), kept
