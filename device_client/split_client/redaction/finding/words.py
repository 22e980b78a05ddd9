"""Words of a folded text, and which of them stand together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from split_client.redaction.rules import rules, words


@dataclass(frozen=True, slots=True)
class Word:
    """``key``: in small letters; ``capital``: its first letter is."""

    text: str
    key: str
    start: int
    end: int

    @property
    def capital(self) -> bool:
        return self.text[0] != self.key[0]

    @property
    def initial(self) -> bool:
        """Whether it is a single capital ASCII letter."""
        return len(self.text) == 1 and "A" <= self.text <= "Z"


def words_in(text: str, lowered: str) -> list[Word]:
    """``lowered``: the same in small letters."""
    found = []
    for match in _word().finditer(text):
        start, end = match.span()
        if end - start > 2 and lowered.endswith("'s", start, end):
            end -= 2
        found.append(Word(text[start:end], lowered[start:end], start, end))
    return found


def is_german(found: Sequence[Word]) -> bool:
    """Whether two small words are: then every noun has a capital, and it tells nothing."""
    small, count = words("german"), 0
    for word in found:
        if word.key in small and word.text == word.key:
            count += 1
            if count > 1:
                return True
    return False


def linked(text: str, first: Word, second: Word) -> bool:
    """Whether ``second`` follows ``first`` as the next word of a name does."""
    between = text[first.end : second.start]
    if between.startswith(".") and (first.initial or first.key in words("titles")):
        between = between[1:]
    return between == "-" or (0 < len(between) <= 3 and not between.strip(" \n"))


@cache
def _word() -> re.Pattern[str]:
    letters = f"[{rules()['letter']}]+"
    return re.compile(f"{letters}(?:'{letters})*")
