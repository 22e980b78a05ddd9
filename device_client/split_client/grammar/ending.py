"""A short way to end a text of any grammar, found by trying it on copies of the grammar's matcher.

A search by the number of tokens over few candidates a step: what is forced, else one token for each
kind of byte and the longest tokens. States after as many bytes that agree on what may and what must
come next count as one.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count
from typing import Final

import llguidance
import numpy as np

from split_client.grammar.vocabulary import Mask, Vocabulary

MOST_STATES: Final = 400
# A text that does not end within so many tokens is one without an end.
FURTHEST: Final = 4096
_KINDS: Final = (
    *(bytes((byte,)) for byte in b"\n\"'`)]};,.:!?"),
    b"0123456789",
    bytes(range(0x61, 0x7B)),
    bytes(range(0x41, 0x5B)),
    b" \t",
    bytes(range(0x20, 0x7F)),
    bytes(range(0x80, 0x100)),
    bytes(range(0x100)),
)
_FEW: Final = 24
_LONGEST: Final = 2


@dataclass(frozen=True, slots=True)
class _State:
    matcher: llguidance.LLMatcher
    size: int
    tokens: tuple[int, ...]


def ending_path(
    matcher: llguidance.LLMatcher,
    vocabulary: Vocabulary,
    limit: int,
    *,
    states: int = MOST_STATES,
) -> tuple[int, ...] | None:
    """Tokens that complete the text of ``matcher``, at most ``limit``; None when none are found.

    ``matcher`` stays as it is.
    """
    order = count()
    start = _State(matcher.deep_copy(), 0, ())
    waiting = [(0, next(order), start)]
    seen: set[tuple[int, bytes, bytes]] = set()
    while waiting and len(seen) < states:
        _, _, state = heapq.heappop(waiting)
        if state.matcher.is_accepting():
            return state.tokens
        if state.matcher.is_stopped():
            continue
        forced = state.matcher.compute_ff_tokens()
        view = (state.size, b"" if forced else state.matcher.compute_bitmask(), bytes(len(forced)))
        if view in seen:
            continue
        seen.add(view)
        for following in _followers(state, vocabulary, forced, limit):
            heapq.heappush(waiting, (len(following.tokens), next(order), following))
    return None


def ends(matcher: llguidance.LLMatcher, vocabulary: Vocabulary) -> bool:
    """Whether an end of the text is found: by the search, else by long tokens and short ones."""
    if ending_path(matcher, vocabulary, FURTHEST) is not None:
        return True
    return any(_walk(matcher.deep_copy(), vocabulary, longest) for longest in (True, False))


def _walk(matcher: llguidance.LLMatcher, vocabulary: Vocabulary, longest: bool) -> bool:
    made = 0
    while made < FURTHEST and not matcher.is_accepting():
        if matcher.is_stopped():
            return False
        tokens = matcher.compute_ff_tokens()
        if not tokens:
            found = np.flatnonzero(vocabulary.mask(matcher))
            sizes = vocabulary.sizes[found]
            tokens = [int(found[np.argmax(sizes) if longest else np.argmin(sizes)])]
        made += len(tokens)
        if made >= FURTHEST or not matcher.consume_tokens(tokens):
            return False
    return matcher.is_accepting()


def _followers(
    state: _State, vocabulary: Vocabulary, forced: list[int], limit: int
) -> list[_State]:
    mask = None if forced else vocabulary.mask(state.matcher)
    steps = [forced] if mask is None else [[token] for token in _candidates(mask, vocabulary)]
    found = list[_State]()
    for tokens in steps:
        if len(state.tokens) + len(tokens) > limit:
            continue
        matcher = state.matcher.deep_copy()
        if matcher.consume_tokens(tokens):
            size = state.size + len(vocabulary.text(tokens))
            found.append(_State(matcher, size, (*state.tokens, *tokens)))
    return found


def _candidates(mask: Mask, vocabulary: Vocabulary) -> list[int]:
    possible = vocabulary.bytes_in(mask)
    if len(possible) > _FEW:
        present = frozenset(possible)
        firsts = (next((byte for byte in kind if byte in present), None) for kind in _KINDS)
        possible = sorted({byte for byte in firsts if byte is not None})
    found = np.flatnonzero(mask)
    longest = found[np.argsort(vocabulary.sizes[found], kind="stable")[-_LONGEST:]]
    single = vocabulary.single
    return list(dict.fromkeys([*longest.tolist(), *(single[byte] for byte in possible)]))
