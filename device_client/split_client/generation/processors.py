"""Logit bias and penalties: changes of the logits of a few tokens, before any filter.

In this order, in float64: bias is added; the repetition penalty (Keskar et al. 2019; the form of
Hugging Face) divides positive and multiplies negative logits of every token of prompt or reply;
presence and frequency penalties (OpenAI) are subtracted for tokens of the reply, the first once,
the second for each time that the token occurred there.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from split_client.generation.sampling_params import SamplingParams


class Affected(NamedTuple):
    """Tokens whose logits change: ``ids`` rising [n]; the others are [n] and say why.

    ``seen``: occurs in prompt or reply. ``counts``: times in the reply. ``bias``: to be added.
    """

    ids: NDArray[np.int64]
    seen: NDArray[np.bool_]
    counts: NDArray[np.int64]
    bias: NDArray[np.float64]


def affected_tokens(
    params: SamplingParams, prompt: Sequence[int], generated: Sequence[int]
) -> Affected:
    """The tokens that ``params`` touches after ``prompt`` and ``generated``."""
    counting = params.presence_penalty != 0.0 or params.frequency_penalty != 0.0
    repeating = params.repetition_penalty != 1.0
    reply = _ids(generated if counting or repeating else ())
    context = np.concatenate([_ids(prompt), reply]) if repeating else _ids(())
    bias_ids = _ids(tuple(params.logit_bias))
    ids = np.unique(np.concatenate([context, reply, bias_ids]))
    counts = np.zeros(ids.size, np.int64)
    np.add.at(counts, np.searchsorted(ids, reply), 1)
    bias = np.zeros(ids.size)
    bias[np.searchsorted(ids, bias_ids)] = tuple(params.logit_bias.values())
    return Affected(ids, np.isin(ids, context), counts, bias)


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
    return changed


def _ids(tokens: Sequence[int]) -> NDArray[np.int64]:
    return np.asarray(tokens, dtype=np.int64).reshape(-1)
