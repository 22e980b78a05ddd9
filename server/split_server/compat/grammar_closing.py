"""A short way to end a JSON text, found by trying it on copies of the grammar's matcher.

The search is by cost (Dijkstra 1959, cost in tokens) over few candidates a step: whatever closes a
string, an array or an object where one may be closed, else one token for each kind of byte. Among
states of the same cost that cannot be told apart by nesting and next tokens it follows one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

import llguidance
import numpy as np

from split_server.compat.grammar_vocabulary import Mask, Vocabulary

_MAX_STATES: Final = 4000
_FEW: Final = 6
_KINDS: Final = (
    b'"', b"0123456789", b"nft", b"-", b"[", b"{", b"}", b"]", b":", b",",
    bytes(range(0x61, 0x7B)), bytes(range(0x41, 0x5B)),
    b" !#$%&'()*+./;<=>?@^_`|~", bytes(range(0x80, 0x100)), b"\\",
)  # fmt: skip


class Place(NamedTuple):
    """Where a JSON text stands: how deep, in a string or not, after a backslash or not."""

    depth: int = 0
    quoted: bool = False
    escaped: bool = False

    def after(self, text: bytes) -> Place:
        """The place after ``text`` more."""
        depth, quoted, escaped = self
        for byte in text:
            if escaped:
                escaped = False
            elif byte == 0x22:
                quoted = not quoted
            elif quoted:
                escaped = byte == 0x5C
            else:
                depth += (byte in b"{[") - (byte in b"}]")
        return Place(depth, quoted, escaped)


@dataclass(frozen=True, slots=True)
class _State:
    matcher: llguidance.LLMatcher
    place: Place
    tokens: tuple[int, ...]


def closing_path(
    matcher: llguidance.LLMatcher, place: Place, vocabulary: Vocabulary, limit: int
) -> tuple[int, ...] | None:
    """Tokens that complete the text of ``matcher``, at most ``limit``; None when none are found.

    ``matcher`` stays as it is.
    """
    order = count()
    waiting = [(0, next(order), _State(matcher.deep_copy(), place, ()))]
    seen: set[tuple[int, Place, bytes]] = set()
    for _ in range(_MAX_STATES):
        if not waiting:
            break
        cost, _, state = heapq.heappop(waiting)
        if state.matcher.is_accepting():
            return state.tokens
        bits = state.matcher.compute_bitmask()
        if state.matcher.is_stopped() or (cost, state.place, bits) in seen:
            continue
        seen.add((cost, state.place, bits))
        for following in _followers(state, vocabulary):
            if len(following.tokens) <= limit:
                heapq.heappush(waiting, (len(following.tokens), next(order), following))
    return None


def _followers(state: _State, vocabulary: Vocabulary) -> Iterable[_State]:
    forced = state.matcher.compute_ff_tokens()
    steps = [forced] if forced else [[token] for token in _candidates(state, vocabulary)]
    for tokens in steps:
        matcher = state.matcher.deep_copy()
        if matcher.consume_tokens(tokens):
            text = b"".join(vocabulary.texts[token] for token in tokens)
            yield _State(matcher, state.place.after(text), (*state.tokens, *tokens))


def _candidates(state: _State, vocabulary: Vocabulary) -> list[int]:
    mask = vocabulary.mask(state.matcher)
    single = vocabulary.single
    possible = [byte for byte, token in single.items() if mask[token]]
    closers = b'"' if state.place.quoted else b"}]"
    closing = [] if state.place.escaped else [byte for byte in closers if byte in possible]
    if closing:
        return [single[closing[0]]]
    if not possible:
        return _shortest(mask, vocabulary)
    if len(possible) > _FEW:
        possible = _one_of_each_kind(possible)
    return [single[byte] for byte in possible]


def _one_of_each_kind(possible: list[int]) -> list[int]:
    present = frozenset(possible)
    firsts = (next((byte for byte in kind if byte in present), None) for kind in _KINDS)
    found = [byte for byte in firsts if byte is not None]
    return found or sorted(possible)[:_FEW]


def _shortest(mask: Mask, vocabulary: Vocabulary) -> list[int]:
    """For vocabularies without a token for every byte."""
    tokens = [token for token in np.flatnonzero(mask).tolist() if vocabulary.texts[token]]
    return sorted(tokens, key=lambda token: len(vocabulary.texts[token]))[:_FEW]
