"""Word trigrams of a speech recognizer's language model, as token phrases with expected counts.

The model's words are in small letters without punctuation; a word list puts capitals back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

_BEGIN, _END = "<s>", "</s>"
_TEXT = re.compile(r"[a-z]+(?:'[a-z]+)?(?:-[a-z]+)*")
# How sentences end, and how often: a guess.
_ENDS = ((".", 0.65), ("?", 0.3), ("!", 0.05))

_OF_PAIRS = 0.1


@dataclass(frozen=True, slots=True)
class Phrase:
    """``words`` as they stand in a text; the last one is expected ``count`` times behind them.

    ``begin``: a message's first words, else words in the middle of a text.
    """

    words: str
    known: str
    count: float
    begin: bool


class Trigrams:
    """An ARPA file (arpa.py writes it); the list ``words`` tells which have a capital letter."""

    def __init__(self, path: Path, words: list[str]) -> None:
        small = {word for word in words if word.islower()}
        self._capital = {w.lower(): w for w in words if w.lower() not in small}
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = iter(file)
            self._single, self._double, self._triple = (
                dict(_section(lines, order)) for order in (1, 2, 3)
            )

    def phrases(self, total: float, least: float) -> Iterator[Phrase]:
        """Those expected at least ``least`` times in ``total`` words."""
        for words, log in self._triple.items():
            pair = self._double.get(words[:2])
            if pair is not None:
                count = total * 10 ** (self._first(words[0]) + pair + log)
                yield from self._written(words, count) if count >= least else ()
        for words, log in self._double.items():
            count = total * 10 ** (self._first(words[0]) + log)
            # What stands in the middle is in trigrams already.
            count *= 1.0 if words[0] == _BEGIN else _OF_PAIRS
            yield from self._written(words, count) if count >= least * _OF_PAIRS else ()

    def _first(self, word: str) -> float:
        """The logarithm of a word's share; a sentence begins as often as one ends."""
        return self._single[_END if word == _BEGIN else word,]

    def _written(self, words: tuple[str, ...], count: float) -> Iterator[Phrase]:
        shown = [self._shown(word) for word in words if word not in (_BEGIN, _END)]
        if words[0] == _BEGIN:
            return _begins(shown, count) if words[-1] != _END else iter(())
        lead = "".join(f" {word}" for word in shown)
        if words[-1] == _END:
            return (Phrase(lead + mark, lead, count * share, begin=False) for mark, share in _ENDS)
        known = "".join(f" {word}" for word in shown[:-1])
        return iter([Phrase(lead, known, count, begin=False)])

    def _shown(self, word: str) -> str:
        if word == "i" or word.startswith("i'"):
            return word.capitalize()
        return self._capital.get(word, word)


def _begins(shown: list[str], count: float) -> Iterator[Phrase]:
    """A sentence's first words, in a message's beginning and behind a full stop."""
    first = shown[0][:1].upper() + shown[0][1:]
    whole = " ".join([first, *shown[1:]])
    known = " ".join([first, *shown[1:-1]]) if len(shown) > 1 else ""
    yield Phrase(whole, known, count, begin=True)
    yield Phrase(f". {whole}", f". {known}" if known else ".", count, begin=False)


def _section(lines: Iterator[str], order: int) -> Iterator[tuple[tuple[str, ...], float]]:
    """Words and logarithms of one order; words that are no plain English are left out."""
    for line in lines:
        if line.startswith(f"\\{order}-grams:"):
            break
    for line in takewhile(str.strip, lines):
        parts = line.rstrip("\n").split("\t")
        words = tuple(parts[1 : order + 1])
        if all(word in (_BEGIN, _END) or _TEXT.fullmatch(word) for word in words):
            yield words, float(parts[0])
