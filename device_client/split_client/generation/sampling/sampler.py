"""Choosing the next token of a hidden state: LM head, penalties, filters, one seeded draw."""

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.head import LMHead
from split_client.generation.head.ranking import rank, rank_all
from split_client.generation.sampling.draw import kept_weights, pick, uniform
from split_client.generation.sampling.members import first_members
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.prefix import PREFIX, draw_from_prefix
from split_client.generation.sampling.processors import Affected, adjusted, affected_tokens
from split_client.generation.sampling.token_set import TokenSet


class Choice(NamedTuple):
    """The token and its probability among the candidates that the filters kept (1 when greedy).

    Without any filter the total weight is known within the head's bounds only, and so is the
    probability; the token is the exact one, with a compact head as far as its estimates hold.
    """

    token_id: int
    probability: float


class Sampler:
    """Chooses tokens as ``params`` asks; ``seed`` is the one given, or drawn at random.

    Raises TokenIdOutOfRange for a token of ``banned`` or ``logit_bias`` that the head does not
    have, and NothingAllowed when all are banned.
    """

    def __init__(self, head: LMHead, params: SamplingParams) -> None:
        self.head = head
        self.seed = secrets.randbits(64) if params.seed is None else params.seed
        self.params = replace(params, seed=self.seed)
        head.rows.check_ids(list(params.logit_bias))
        banned = head.rows.check_ids(sorted(params.banned))
        self._permitted = TokenSet.without(banned, head.rows.rows) if banned.size else None

    def choose(
        self,
        hidden: NDArray[np.float32],
        prompt: Sequence[int],
        generated: Sequence[int],
        draw_index: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> Choice:
        """The token after ``prompt`` and ``generated``, of final hidden state [hidden].

        ``draw_index``: which draw of the seed this is; the same index, history and state give the
        same token. ``allowed``: a mask [vocab], nothing outside it takes part. Raises
        InvalidHiddenState, TokenIdOutOfRange, NonFiniteLogits, NothingAllowed.
        """
        among = self._among(allowed)
        forbidden = None if among is None else among.others
        affected = affected_tokens(self.params, prompt, generated, forbidden)
        if among is not None and forbidden is None:
            return self._chosen_among(among, hidden, affected, draw_index)
        if self.params.temperature == 0.0:
            ids, _ = self._first(hidden, 1, affected)
            return Choice(int(ids[0]), 1.0)
        u = uniform(self.seed, draw_index)
        if self.params.top_k == 0:
            return self._unlimited(hidden, affected, u)
        return self._drawn(*self._first(hidden, self.params.top_k, affected), u)

    def _among(self, allowed: NDArray[np.bool_] | None) -> TokenSet | None:
        """The tokens that may be chosen; None: every token."""
        if allowed is None:
            return self._permitted
        return TokenSet.of(allowed) if self._permitted is None else self._permitted.within(allowed)

    def _chosen_among(
        self, among: TokenSet, hidden: NDArray[np.float32], affected: Affected, draw_index: int
    ) -> Choice:
        if self.params.temperature == 0.0:
            ids, _ = first_members(self.head, hidden, self.params, affected, among, 1)
            return Choice(int(ids[0]), 1.0)
        u = uniform(self.seed, draw_index)
        if among.members is None and self.params.top_k == 0:
            return self._unlimited(hidden, affected, u, among)
        limit = self.params.top_k or self.head.rows.rows
        found = first_members(self.head, hidden, self.params, affected, among, limit)
        return self._drawn(*found, u)

    def _first(
        self, hidden: NDArray[np.float32], k: int, affected: Affected
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The first ``k`` tokens by (-adjusted logit, id).

        Exact: of the tokens that are not affected, only their own first k can be among them.
        """
        top = self.head.top(hidden, k, affected.ids)
        changed = adjusted(self.params, affected, top.also_logits)
        ids = np.concatenate([top.ids, affected.ids])
        return rank(ids, np.concatenate([top.logits.astype(np.float64), changed]), k)

    def _unlimited(
        self,
        hidden: NDArray[np.float32],
        affected: Affected,
        u: float,
        among: TokenSet | None = None,
    ) -> Choice:
        """A draw without top-k from all tokens, or from those ``among`` (many, and not most)."""
        mask = None if among is None else among.mask
        found = self.head.top_and_rest(hidden, PREFIX, self.params.temperature, affected.ids)
        if found is not None:
            top, rest = found
            changed = adjusted(self.params, affected, top.also_logits)
            drawn = draw_from_prefix(top, affected.ids, changed, rest, self.params, u, mask)
            if drawn is not None:
                return Choice(*drawn)
        logits = self.head.logits(hidden).astype(np.float64)
        own = logits[affected.ids].astype(np.float32)
        logits[affected.ids] = adjusted(self.params, affected, own)
        if mask is not None:
            logits[~mask] = -np.inf
        return self._drawn(*rank_all(logits, logits.size), u)

    def _drawn(self, ids: NDArray[np.int64], logits: NDArray[np.float64], u: float) -> Choice:
        weights = kept_weights(logits, self.params)
        index = pick(weights, u)
        return Choice(int(ids[index]), float(weights[index] / weights.sum()))
