"""A short way to end a JSON text, found by trying it on copies of the grammar's matcher.

One array or object is ended after the other, from the innermost on, each by a search by tokens so
far plus brackets and quotes still to close (A*, Hart et al. 1968) over few candidates a step:
whatever ends a string, an item, an array or an object where one may end, else one token for each
kind of byte. States at the same place of a text that agree on what may and what must come next
count as one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final

import llguidance
import numpy as np

from split_client.grammar.place import Place
from split_client.grammar.vocabulary import Mask, Vocabulary

# States of one search that ends an array or object, and of one that ends an item of it.
_MAX_STATES: Final = 500
_MAX_STATES_OF_ITEM: Final = 2000
_MAX_STATES_OF_EVERY_BYTE: Final = 100
_MAX_SKIPPED: Final = 64
_FEW: Final = 6
_KINDS: Final = (
    *(bytes((byte,)) for byte in b'"-[{}]:,'),
    b"0123456789",
    b"nft",
    bytes(range(0x61, 0x7B)),
    bytes(range(0x41, 0x5B)),
    b" !#$%&'()*+./;<=>?@^_`|~",
)
_EVERY_BYTE: Final = tuple(bytes((byte,)) for byte in range(256))


@dataclass(frozen=True, slots=True)
class _State:
    matcher: llguidance.LLMatcher
    place: Place
    tokens: tuple[int, ...]

    @property
    def cost(self) -> int:
        """Tokens so far, and at least so many to come."""
        return len(self.tokens) + len(self.place.frames) + self.place.quoted


def closing_path(
    matcher: llguidance.LLMatcher,
    place: Place,
    vocabulary: Vocabulary,
    limit: int,
    *,
    known: tuple[int, ...] = (),
    thorough: bool = True,
) -> tuple[int, ...] | None:
    """Tokens that complete the text of ``matcher``, at most ``limit``; None when none are found.

    ``known``: a path from an earlier place, whose end may do for this one as well.
    ``matcher`` stays as it is. If ``thorough``, and one byte of each kind leads to no end, every
    byte is tried.
    """
    state = _State(matcher.deep_copy(), place, ())
    found = _Search(vocabulary, limit, _KINDS).path(state, known)
    if found is None and thorough:
        found = _Search(vocabulary, limit, _EVERY_BYTE).path(state, known)
    return found


def _container_ended(start: Place, now: Place) -> bool:
    return len(now.frames) < len(start.frames)


def _item_ended(start: Place, now: Place) -> bool:
    depth = len(start.frames)
    return len(now.frames) < depth or (len(now.frames) == depth and now.frames != start.frames)


class _Search:
    """Paths of at most ``limit`` tokens through one token for each of ``kinds``."""

    def __init__(self, vocabulary: Vocabulary, limit: int, kinds: tuple[bytes, ...]) -> None:
        self._vocabulary = vocabulary
        self._limit = limit
        self._kinds = kinds
        self._most = _MAX_STATES if kinds is _KINDS else _MAX_STATES_OF_EVERY_BYTE
        self._exhausted = False

    def path(self, start: _State, known: tuple[int, ...]) -> tuple[int, ...] | None:
        """Tokens from ``start`` to an end of the text, or None."""
        state: _State | None = start
        while state is not None and not state.matcher.is_accepting():
            before = state
            state = self.first(before, _container_ended, self._most)
            if state is None and self._kinds is _KINDS and not self._exhausted:
                state = self.first(before, _item_ended, _MAX_STATES_OF_ITEM)
            whole = None if state is None else self._joined(state, known)
            if whole is not None:
                return whole
        return None if state is None else state.tokens

    def _joined(self, state: _State, known: tuple[int, ...]) -> tuple[int, ...] | None:
        """The tokens of ``state`` with an end of ``known`` that completes the text, if one does."""
        for start in range(min(len(known), _MAX_SKIPPED)):
            rest = known[start:]
            if len(state.tokens) + len(rest) > self._limit:
                continue
            if state.matcher.validate_tokens(list(rest)) != len(rest):
                continue
            if state.place.after(self._vocabulary.text(rest)).closed:
                return (*state.tokens, *rest)
        return None

    def first(
        self, start: _State, ended: Callable[[Place, Place], bool], states: int
    ) -> _State | None:
        """The cheapest state found after ``start`` that has ``ended`` or may be the text's end."""
        order = count()
        waiting = [(start.cost, next(order), start)]
        seen: set[tuple[Place, bytes, bytes]] = set()
        while waiting and len(seen) < states:
            _, _, state = heapq.heappop(waiting)
            if state.matcher.is_accepting() or ended(start.place, state.place):
                return state
            bits, forced = state.matcher.compute_bitmask(), state.matcher.compute_ff_bytes()
            view = (state.place, bits, forced)
            if state.matcher.is_stopped() or view in seen:
                continue
            seen.add(view)
            for following in _followers(state, self._vocabulary, self._kinds):
                if following.cost <= self._limit:
                    heapq.heappush(waiting, (following.cost, next(order), following))
        self._exhausted = not waiting
        return None


def _followers(state: _State, vocabulary: Vocabulary, kinds: tuple[bytes, ...]) -> Iterable[_State]:
    forced = state.matcher.compute_ff_tokens()
    steps = [forced] if forced else [[token] for token in _candidates(state, vocabulary, kinds)]
    for tokens in steps:
        matcher = state.matcher.deep_copy()
        if matcher.consume_tokens(tokens):
            place = state.place.after(vocabulary.text(tokens))
            yield _State(matcher, place, (*state.tokens, *tokens))


def _candidates(state: _State, vocabulary: Vocabulary, kinds: tuple[bytes, ...]) -> list[int]:
    mask = vocabulary.mask(state.matcher)
    single = vocabulary.single
    possible = vocabulary.bytes_in(mask)
    ends = b'"' if state.place.quoted else b"}],"
    closing = [] if state.place.escaped else [byte for byte in ends if byte in possible]
    if closing:
        return [single[closing[0]]]
    if not possible:
        return _shortest(mask, vocabulary)
    if len(possible) > _FEW:
        possible = _one_of_each_kind(possible, kinds)
    return [single[byte] for byte in possible]


def _one_of_each_kind(possible: list[int], kinds: tuple[bytes, ...]) -> list[int]:
    present = frozenset(possible)
    firsts = (next((byte for byte in kind if byte in present), None) for kind in kinds)
    found = [byte for byte in firsts if byte is not None]
    return found or [min(possible)]


def _shortest(mask: Mask, vocabulary: Vocabulary) -> list[int]:
    """For vocabularies without a token for every byte."""
    tokens = [token for token in np.flatnonzero(mask).tolist() if vocabulary.texts[token]]
    return sorted(tokens, key=lambda token: len(vocabulary.texts[token]))[:_FEW]
