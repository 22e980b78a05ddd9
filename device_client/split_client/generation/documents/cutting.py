"""Where the chunks of a prompt lie: cut where the text itself has a boundary.

Boundaries are control tokens, between which messages lie, the ends of texts that were given apart
(files, parts of a message), and empty lines. An insertion moves such a boundary with the text
behind it, so that what follows is cut as before.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from split_client.generation.detokenizer import Decoder
from split_wire.documents.chunks import LONGEST, SHORTEST, Chunk

# Line ends in a row that end a paragraph.
_EMPTY_LINE = 2
_ITEM = array("q").itemsize


@dataclass(frozen=True, slots=True)
class _Kind:
    """Of a token: whether it is a control token or nothing but white space, and how many lines end
    with its text.
    """

    control: bool
    blank: bool
    ends: int


class Cutter:
    """``decoder`` has the texts of single tokens, which are looked at once each."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._kinds = dict[int, _Kind]()

    def chunks(self, tokens: Sequence[int], texts: Sequence[Sequence[int]] = ()) -> list[Chunk]:
        """Those of ``tokens``, sorted and disjoint; ``texts``: tokens of some that it has, in their
        order.
        """
        kinds, found = [self._kind(token) for token in tokens], list[Chunk]()
        hard = {0, len(tokens)}
        hard.update(end for place in places(tokens, texts) for end in place)
        for at, kind in enumerate(kinds):
            if kind.control:
                hard.update((at, at + 1))
        bounds = sorted(hard)
        for start, end in pairwise(bounds):
            found += _cut(start, end, kinds)
        return found

    def _kind(self, token: int) -> _Kind:
        kind = self._kinds.get(token)
        if kind is None:
            text = self._decoder.decode([token])
            control = not text and bool(self._decoder.decode([token], skip_special_tokens=False))
            ended = text[len(text.rstrip()) :].count("\n")
            kind = self._kinds[token] = _Kind(control, bool(text) and not text.strip(), ended)
        return kind


def places(tokens: Sequence[int], texts: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Where ``texts`` lie in ``tokens``, in their order: first position and the one behind the
    last. What is short, or written otherwise there, is left out.

    The first and the last token of a text may be others where something comes before and behind.
    """
    found, haystack, at = list[tuple[int, int]](), array("q", tokens).tobytes(), 0
    for text in texts:
        inner = array("q", text[1:-1])
        if len(inner) < SHORTEST:
            continue
        place = haystack.find(inner.tobytes(), at)
        while place >= 0 and place % _ITEM:
            place = haystack.find(inner.tobytes(), place + 1)
        if place >= 0:
            at = place + _ITEM * len(inner)
            found.append((place // _ITEM, at // _ITEM))
    return found


def _cut(start: int, end: int, kinds: Sequence[_Kind]) -> list[Chunk]:
    """The chunks between two boundaries: paragraphs, short ones with those that follow. The rest
    that is too short is in none.
    """
    found, first = list[Chunk](), start
    for stop in [*_paragraphs(start, end, kinds, _EMPTY_LINE), end]:
        if stop - first > LONGEST:
            lines = [*_paragraphs(first, stop, kinds, 1), stop]
            found += _filled(first, lines)
            first = stop
        elif stop - first >= SHORTEST:
            found.append(Chunk(first, stop - first))
            first = stop
    return found


def _paragraphs(start: int, end: int, kinds: Sequence[_Kind], ends: int) -> list[int]:
    """Where something begins between ``start`` and ``end`` behind so many line ends in a row."""
    found, ended = list[int](), 0
    for at in range(start, end):
        kind = kinds[at]
        if kind.blank:
            ended += kind.ends
            continue
        if ended >= ends and at > start:
            found.append(at)
        ended = kind.ends
    return found


def _filled(start: int, stops: Sequence[int]) -> list[Chunk]:
    """As long as they may be, each up to one of ``stops`` where one is near enough."""
    found, end, reach = list[Chunk](), stops[-1], start

    def take(stop: int) -> None:
        nonlocal start
        found.append(Chunk(start, stop - start))
        start = stop

    for stop in stops:
        if stop - start > LONGEST and reach - start >= SHORTEST:
            take(reach)
        while stop - start > LONGEST:
            take(start + LONGEST)
        reach = stop
    if end - start >= SHORTEST:
        take(end)
    return found
