"""Where the end of a text may be the beginning of a surrogate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from split_client.redaction.finding.looked import Looked
from split_client.redaction.folding import fold, lower
from split_client.redaction.kinds import number_of
from split_client.redaction.rules import rules
from split_client.redaction.spotting import Spotter
from split_client.redaction.squeezed import gap_of, is_gap
from split_client.redaction.undoing.glance import Glance

_BETWEEN: Final = re.compile("[ \n]+")
# A date that is not whole, in small letters.
_DATE: Final = re.compile(
    "(?<![0-9a-z])(?:"
    "[0-9]{1,4}(?:[./\\-][0-9]{0,4}){0,2}"
    "|[0-9]{1,2}(?:\\.|s|st|n|nd|r|rd|t|th)?[ \n]{0,3}(?:of?[ \n]{0,3})?[a-zä]{0,9}[.,]?[ \n]{0,3}"
    "[0-9]{0,4}"
    "|[a-zä]{1,9}\\.?[ \n]{0,3}(?:[0-9]{1,2}(?:\\.|s|st|n|nd|r|rd|t|th)?)?,?[ \n]{0,3}[0-9]{0,4}"
    ")\\Z"
)
_LONGEST_DATE: Final = 40
_LETTERS: Final = re.compile("[a-zä]+")


class Beginnings:
    """Of the surrogates that a spotter looks for; those that it learns later belong to them."""

    def __init__(self, spotter: Spotter) -> None:
        self._spotter = spotter
        self._numbers: set[str] = set()
        self._texts: set[str] = set()
        self._names: set[str] = set()
        self._longest_number = self._longest_text = 0
        self._firsts = frozenset[str]()
        self._glance = Glance()
        self._read = 0
        letters = rules()["letter"]
        self._word = re.compile(f"[{letters}']+\\Z")
        self._alone = re.compile(f"(?<![{letters}0-9])")

    def of(self, looked: Looked) -> Iterator[int]:
        """Folded characters from which one may have begun that is not whole yet."""
        self._learn()
        yield from self._of_numbers(looked)
        yield from self._of_texts(looked)
        if self._spotter.dates:
            yield from self._of_dates(looked)
        yield from self._of_names(looked)

    def first(self, source: str) -> int | None:
        """Where in ``source`` the first of them is, or its end, seen at a glance. None: whole ones
        may be in it, so that it has to be looked at.
        """
        self._learn()
        if source.isascii():
            return self._glance.first(source.lower())
        folded = fold(source)
        at = self._glance.first(lower(folded.text))
        if at is None:
            return None
        return folded.starts[at] if at < len(folded.text) else len(source)

    def _of_numbers(self, looked: Looked) -> Iterator[int]:
        squeezed, gap = looked.squeezed, gap_of("phone")
        length = len(squeezed.characters)
        if not length or not is_gap(looked.text[squeezed.at[-1] + 1 :], gap):
            return
        for count in range(1, min(self._longest_number, length) + 1):
            first = length - count
            if not squeezed.together(first, min(first + 2, length), gap):
                return
            if squeezed.characters[first:] in self._numbers:
                yield squeezed.at[first]

    def _of_texts(self, looked: Looked) -> Iterator[int]:
        text = looked.lower
        # A space may be written as three.
        for start in range(max(0, len(text) - 3 * self._longest_text), len(text)):
            if (
                text[start] in self._firsts
                and self._alone.match(text, start)
                and _BETWEEN.sub(" ", text[start:]) in self._texts
            ):
                yield start

    def _of_dates(self, looked: Looked) -> Iterator[int]:
        at = max(0, len(looked.lower) - _LONGEST_DATE)
        while match := _DATE.search(looked.lower, at):
            if all(map(_of_date, _LETTERS.findall(match.group()))):
                yield match.start()
            at = match.start() + 1

    def _of_names(self, looked: Looked) -> Iterator[int]:
        match = self._word.search(looked.lower, max(0, len(looked.lower) - 100))
        if match is not None:
            word = match.group().lstrip("'")
            base = word.partition("'")[0]
            if base in self._names or base.removesuffix("s") in self._spotter.names:
                yield match.end() - len(word)

    def _learn(self) -> None:
        spotter = self._spotter
        if spotter.count == self._read:
            return
        self._read = spotter.count
        numbers = [number_of(known.kind, known.key) for known in spotter.numbers.values()]
        texts = [*spotter.texts]
        self._longest_number = max(map(len, numbers), default=0)
        self._longest_text = max(map(len, texts), default=0)
        self._numbers = _prefixes(numbers)
        self._texts = _prefixes(texts)
        self._names = _prefixes(spotter.names)
        self._firsts = frozenset(text[0] for text in texts)
        words = _words_of_dates() if spotter.dates else ()
        self._glance = Glance(spotter.names, texts, numbers, words)


def _of_date(word: str) -> bool:
    """Whether it may be a month, or what stands behind a day, or the beginning of one."""
    return any(each.startswith(word) for each in _words_of_dates())


@cache
def _words_of_dates() -> frozenset[str]:
    months = {month for listed in rules()["months"] for month in listed}
    return frozenset(months | {"st", "nd", "rd", "th", "of"})


def _prefixes(texts: Iterable[str]) -> set[str]:
    return {text[:end] for text in texts for end in range(1, len(text) + 1)}
