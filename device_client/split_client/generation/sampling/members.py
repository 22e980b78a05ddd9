"""The first tokens of an allowed set, by adjusted logit, exactly."""

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.head import LMHead
from split_client.generation.head.ranking import rank, rank_all
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.prefix import PREFIX
from split_client.generation.sampling.processors import Affected, adjusted
from split_client.generation.sampling.token_set import TokenSet

Ranked = tuple[NDArray[np.int64], NDArray[np.float64]]


def first_members(
    head: LMHead,
    hidden: NDArray[np.float32],
    params: SamplingParams,
    affected: Affected,
    among: TokenSet,
    k: int,
) -> Ranked:
    """The first ``k`` members of ``among`` by (-adjusted logit, id), fewer where there are fewer.

    Raises InvalidHiddenState, NonFiniteLogits.
    """
    if among.members is not None:
        own = affected.within(among.mask)
        return _of_few(head, hidden, params, own, among.members, k)
    found = _of_top(head, hidden, params, affected, among, k) if head.screened else None
    return _of_all(head, hidden, params, affected, among, k) if found is None else found


def _of_few(
    head: LMHead,
    hidden: NDArray[np.float32],
    params: SamplingParams,
    affected: Affected,
    members: NDArray[np.int64],
    k: int,
) -> Ranked:
    """From the members' own logits alone; all of ``affected`` are members."""
    own = head.top(hidden, 0, members).also_logits
    logits = own.astype(np.float64)
    places = np.searchsorted(members, affected.ids)
    logits[places] = adjusted(params, affected, own[places])
    return rank(members, logits, k)


def _of_top(
    head: LMHead,
    hidden: NDArray[np.float32],
    params: SamplingParams,
    affected: Affected,
    among: TokenSet,
    k: int,
) -> Ranked | None:
    """From the first of all tokens, or None where fewer than ``k`` members are among these."""
    top = head.top(hidden, max(k, PREFIX), affected.ids)
    if not top.ids.size:
        return None
    changed = adjusted(params, affected, top.also_logits)
    ids = np.concatenate([top.ids, affected.ids])
    ids, logits = rank(ids, np.concatenate([top.logits.astype(np.float64), changed]))
    # Up to the last of the top the ranking is that of the whole vocabulary.
    certain = int(np.flatnonzero(ids == top.ids[-1])[0]) + 1
    kept = np.flatnonzero(among.mask[ids[:certain]])[:k]
    return (ids[kept], logits[kept]) if kept.size == k else None


def _of_all(
    head: LMHead,
    hidden: NDArray[np.float32],
    params: SamplingParams,
    affected: Affected,
    among: TokenSet,
    k: int,
) -> Ranked:
    own = head.logits(hidden)
    logits = own.astype(np.float64)
    logits[affected.ids] = adjusted(params, affected, own[affected.ids])
    members = np.flatnonzero(among.mask)
    places, ranked = rank_all(logits[members], k)
    return members[places], ranked
