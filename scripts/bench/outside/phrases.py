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
    """An ARPA file (as pocketsphinx writes one), of words that ``capitals`` writes properly."""

    def __init__(self, path: Path, words: list[str]) -> None:
        small = {word for word in words if word.islower()}
        self._capital = {w.lower(): w for w in words if w.lower() not in small}
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = iter(file)
            self._single = dict(self._section(lines, "\\1-grams:", 1))
            self._double = dict(self._section(lines, "\\2-grams:", 2))
            self._triple = dict(self._section(lines, "\\3-grams:", 3))

    def phrases(self, total: float, least: float) -> Iterator[Phrase]:
        """Those expected at least ``least`` times in ``total`` words."""
        begins = self._single[_END,][0]
        for (first, *rest), (log, _) in self._triple.items():
            pair = self._double.get((first, rest[0]))
            before = begins if first == _BEGIN else self._single[first,][0]
            if pair is not None:
                count = total * 10 ** (before + pair[0] + log)
                if count >= least:
                    yield from self._written([first, *rest], count)
        for (first, second), (log, _) in self._double.items():
            before = begins if first == _BEGIN else self._single[first,][0]
            count = total * 10 ** (before + log)
            if count >= least:
                yield from self._written([first, second], count, pair=True)

    def _written(self, words: list[str], count: float, *, pair: bool = False) -> Iterator[Phrase]:
        *known, last = words
        texts = [self._capital.get(w, _fixed(w)) for w in known if w != _BEGIN]
        lead = " ".join(texts)
        if pair and words[0] != _BEGIN:
            count *= 0.1
        if words[0] == _BEGIN:
            shown = [*texts, last if last == _END else self._capital.get(last, _fixed(last))]
            whole = " ".join(w for w in shown if w != _END)
            whole = whole[:1].upper() + whole[1:]
            if last == _END:
                return
            known_text = whole[: len(whole) - len(shown[-1])].rstrip()
            yield Phrase(whole, known_text, count, begin=True)
            yield Phrase(". " + whole, ". " + known_text if known_text else ".", count, begin=False)
        elif last == _END:
            for mark, share in _ENDS:
                yield Phrase(f" {lead}{mark}", f" {lead}", count * share, begin=False)
        else:
            yield Phrase(
                f" {lead} {self._capital.get(last, _fixed(last))}", f" {lead}", count, begin=False
            )

    def _section(
        self, lines: Iterator[str], head: str, order: int
    ) -> Iterator[tuple[tuple[str, ...], tuple[float, float]]]:
        for line in lines:
            if line.startswith(head):
                break
        for line in takewhile(lambda each: each.strip(), lines):
            parts = line.rstrip("\n").split("\t")
            if len(parts) < order + 1:
                return
            words = tuple(parts[1 : order + 1])
            if all(w in (_BEGIN, _END) or _TEXT.fullmatch(w) for w in words):
                yield words, (float(parts[0]), 0.0)


def _fixed(word: str) -> str:
    return "I" + word[1:] if word == "i" or word.startswith("i'") else word
