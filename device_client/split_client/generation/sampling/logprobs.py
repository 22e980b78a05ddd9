"""Log-probabilities of a chosen token and of the most likely ones, under the model alone.

The natural log of the float64 softmax of the LM head's logits, after its scale and softcap and
before anything that the sampler does. The sum over the vocabulary is that of a few exact logits and
of bounds of all others where these bounds leave no doubt, else that of all logits.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.head.head import LMHead
from split_client.generation.head.ranking import rank, rank_all
from split_client.generation.sampling.prefix import PREFIX

MAX_TOP_LOGPROBS: Final = 20
# Widest doubt of the log of the sum for which no other logits are computed.
_DOUBT: Final = 1e-5


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """``logprob`` of the chosen token; ``top``: (id, logprob) by (-logprob, id)."""

    logprob: float
    top: tuple[tuple[int, float], ...]


def check_top_logprobs(count: int | None) -> None:
    """Raises InvalidSamplingParameter unless ``count`` is None or in 0..20."""
    whole = isinstance(count, int) and not isinstance(count, bool)
    if count is not None and not (whole and 0 <= count <= MAX_TOP_LOGPROBS):
        allowed = f"a whole number in 0..{MAX_TOP_LOGPROBS}, or none"
        raise InvalidSamplingParameter("logprobs", count, allowed)


def token_logprobs(
    head: LMHead, hidden: NDArray[np.float32], token: int, count: int
) -> TokenLogprobs:
    """Of ``token`` and of the first ``count`` tokens after the final hidden state [hidden].

    Raises InvalidHiddenState, TokenIdOutOfRange, NonFiniteLogits.
    """
    found = _from_prefix(head, hidden, token, count)
    return _from_all(head, hidden, token, count) if found is None else found


def _from_prefix(
    head: LMHead, hidden: NDArray[np.float32], token: int, count: int
) -> TokenLogprobs | None:
    """From the first logits and bounds of the rest, or None where these are too wide."""
    found = head.top_and_rest(hidden, PREFIX, 1.0, (token,))
    if found is None:
        return None
    top, rest = found
    ids = np.append(top.ids, np.int64(token))
    ids, logits = rank(ids, np.append(top.logits, top.also_logits).astype(np.float64))
    known = float(np.exp(logits - logits[0]).sum())
    unit = math.exp(float(top.logits[0]) - float(logits[0]))
    low, high = (math.log(known + weight * unit) for weight in rest)
    if not high - low <= _DOUBT:
        return None
    total = float(logits[0]) + (low + high) / 2
    return _told(float(top.also_logits[0]), ids[:count], logits[:count], total)


def _from_all(head: LMHead, hidden: NDArray[np.float32], token: int, count: int) -> TokenLogprobs:
    logits = head.logits(hidden).astype(np.float64)
    head.rows.check_ids((token,))
    first = float(logits.max())
    total = first + math.log(float(np.exp(logits - first).sum()))
    return _told(float(logits[token]), *rank_all(logits, count), total)


def _told(
    logit: float, ids: NDArray[np.int64], logits: NDArray[np.float64], total: float
) -> TokenLogprobs:
    top = zip(ids.tolist(), (logits - total).tolist(), strict=True)
    return TokenLogprobs(logit - total, tuple(top))
