"""A short way to end a text of any grammar, found by trying it on copies of the grammar's matcher.

A search by the number of tokens over few candidates a step: what is forced, else one token for each
kind of byte and the longest tokens; where that leads to no end, the token of every byte. States
after as many bytes that agree on what may and what must come next count as one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

import llguidance
import numpy as np

from split_client.grammar.vocabulary import Mask, Vocabulary

_MOST_STATES: Final = 200
_MOST_OF_EVERY_BYTE: Final = 600
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
    matcher: llguidance.LLMatcher, vocabulary: Vocabulary, limit: int, *, thorough: bool = True
) -> tuple[int, ...] | None:
    """Tokens that complete the text of ``matcher``, at most ``limit``; None when none are found.

    ``matcher`` stays as it is. If ``thorough``, and few candidates lead to no end, every byte is
    tried.
    """
    found = _path(matcher, vocabulary, limit, _MOST_STATES, _candidates)
    if found is None and thorough:
        # Longer tokens may fit where those of single bytes do not.
        found = _path(matcher, vocabulary, 4 * limit, _MOST_OF_EVERY_BYTE, _every_byte)
        found = None if found is None else _shortened(matcher, vocabulary, found)
    return None if found is None or len(found) > limit else found


def _path(
    matcher: llguidance.LLMatcher,
    vocabulary: Vocabulary,
    limit: int,
    states: int,
    candidates: Callable[[Mask, Vocabulary], list[int]],
) -> tuple[int, ...] | None:
    order = count()
    waiting = [(0, next(order), _State(matcher.deep_copy(), 0, ()))]
    seen: set[tuple[int, bytes, bytes]] = set()
    while waiting and len(seen) < states:
        _, _, state = heapq.heappop(waiting)
        if state.matcher.is_accepting():
            return state.tokens
        if state.matcher.is_stopped():
            continue
        forced = state.matcher.compute_ff_tokens()
        mask = b"" if forced else state.matcher.compute_bitmask()
        view = (state.size, mask, state.matcher.compute_ff_bytes())
        if view in seen:
            continue
        seen.add(view)
        steps = [forced]
        if not forced:
            steps = [[token] for token in candidates(vocabulary.mask(state.matcher), vocabulary)]
        for following in _followers(state, vocabulary, steps, limit):
            heapq.heappush(waiting, (len(following.tokens), next(order), following))
    return None


def _shortened(
    matcher: llguidance.LLMatcher, vocabulary: Vocabulary, tokens: tuple[int, ...]
) -> tuple[int, ...]:
    """The text of ``tokens`` in as few tokens as the vocabulary has for it, if they may follow."""
    fewer = vocabulary.tokenizer.tokenize_bytes(vocabulary.text(tokens))
    if len(fewer) < len(tokens) and matcher.validate_tokens(fewer) == len(fewer):
        return tuple(fewer)
    return tokens


def _followers(
    state: _State, vocabulary: Vocabulary, steps: list[list[int]], limit: int
) -> Iterator[_State]:
    for tokens in steps:
        if len(state.tokens) + len(tokens) > limit:
            continue
        matcher = state.matcher.deep_copy()
        if matcher.consume_tokens(tokens):
            size = state.size + len(vocabulary.text(tokens))
            yield _State(matcher, size, (*state.tokens, *tokens))


def _every_byte(mask: Mask, vocabulary: Vocabulary) -> list[int]:
    possible = vocabulary.bytes_in(mask)
    return [vocabulary.single[byte] for byte in possible] or _candidates(mask, vocabulary)


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
