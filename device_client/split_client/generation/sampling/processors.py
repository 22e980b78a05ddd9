"""Logit bias and penalties: changes of the logits of a few tokens, before any filter.

In this order, in float64: bias is added; the repetition penalty (Keskar et al. 2019; the form of
Hugging Face) divides positive and multiplies negative logits of every token of prompt or reply, or
of the last so many of both;
presence and frequency penalties (OpenAI) are subtracted for tokens of the reply, the first once,
the second for each time that the token occurred there; forbidden tokens get -inf.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from split_client.generation.sampling.params import SamplingParams


class Affected(NamedTuple):
    """Tokens whose logits change: ``ids`` rising [n]; the others are [n] and say why.

    ``seen``: occurs in what the repetition penalty looks at. ``counts``: times in the reply.
    ``bias``: to be added. ``forbidden``: may not be chosen; None: all may.
    """

    ids: NDArray[np.int64]
    seen: NDArray[np.bool_]
    counts: NDArray[np.int64]
    bias: NDArray[np.float64]
    forbidden: NDArray[np.bool_] | None = None

    def within(self, mask: NDArray[np.bool_]) -> "Affected":
        """Those whose id is set in ``mask`` [vocab]; none of them counts as forbidden."""
        kept = mask[self.ids]
        return Affected(self.ids[kept], self.seen[kept], self.counts[kept], self.bias[kept])


def affected_tokens(
    params: SamplingParams,
    prompt: Sequence[int],
    generated: Sequence[int],
    forbidden: NDArray[np.int64] | None = None,
) -> Affected:
    """The tokens that ``params`` touches after ``prompt`` and ``generated``, and ``forbidden``."""
    counting = params.presence_penalty != 0.0 or params.frequency_penalty != 0.0
    repeating = params.repetition_penalty != 1.0
    reply = _ids(generated if counting or repeating else ())
    context = np.concatenate([_ids(prompt), reply]) if repeating else _ids(())
    context = context[-params.repetition_range :] if params.repetition_range else context
    bias_ids = _ids(tuple(params.logit_bias))
    touched = [context, reply, bias_ids]
    ids = np.unique(np.concatenate(touched if forbidden is None else [*touched, forbidden]))
    counts = np.zeros(ids.size, np.int64)
    np.add.at(counts, np.searchsorted(ids, reply), 1)
    bias = np.zeros(ids.size)
    bias[np.searchsorted(ids, bias_ids)] = tuple(params.logit_bias.values())
    barred = None if forbidden is None else np.isin(ids, forbidden)
    return Affected(ids, np.isin(ids, context), counts, bias, barred)


def adjusted(
    params: SamplingParams, affected: Affected, logits: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The logits [n] of ``affected.ids`` after bias and penalties."""
    changed = logits.astype(np.float64) + affected.bias
    penalty = params.repetition_penalty
    repeated = np.where(changed < 0, changed * penalty, changed / penalty)
    changed = np.where(affected.seen, repeated, changed)
    changed -= affected.counts * params.frequency_penalty
    changed -= (affected.counts > 0) * params.presence_penalty
    if affected.forbidden is not None:
        changed[affected.forbidden] = -np.inf
    return changed


def _ids(tokens: Sequence[int]) -> NDArray[np.int64]:
    return np.asarray(tokens, dtype=np.int64).reshape(-1)
