"""The letters and digits of a folded text alone, in which a number has one spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from split_client.redaction.rules import rules

MOST_GAP: Final = 4
_RUN: Final = re.compile(r"[0-9A-Za-z]+")
_SOLID: Final = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True, slots=True)
class Squeezed:
    """``characters``: ASCII letters, as capitals, and digits of ``text``, the i-th at ``at[i]``."""

    text: str
    characters: str
    at: list[int]

    def occurrences(self, wanted: str, gap: str) -> Iterator[tuple[int, int]]:
        """First and last+1 of ``characters`` where ``wanted`` is spelled, with gaps of ``gap``."""
        found = self.characters.find(wanted)
        while found >= 0:
            end = found + len(wanted)
            if self.together(found, end, gap):
                yield found, end
            found = self.characters.find(wanted, found + 1)

    def together(self, first: int, end: int, gap: str) -> bool:
        """Whether nothing but gaps stands between the characters."""
        at = self.at
        if at[end - 1] - at[first] == end - 1 - first:
            return True
        return all(
            is_gap(self.text[at[i] + 1 : at[i + 1]], gap)
            for i in range(first, end - 1)
            if at[i + 1] - at[i] > 1
        )

    def touches(self, first: int) -> bool:
        """Whether an ASCII letter or digit stands directly before."""
        return solid_at(self.text, self.at[first] - 1)

    def goes_on(self, end: int) -> bool:
        """Whether one stands directly behind the character before ``end``."""
        return solid_at(self.text, self.at[end - 1] + 1)

    def precedes_digit(self, end: int) -> bool:
        """Whether a digit stands directly behind the character before ``end``."""
        return self.goes_on(end) and self.characters[end].isdecimal()

    def follows_digit(self, first: int) -> bool:
        """Whether a digit stands directly before."""
        return self.touches(first) and self.characters[first - 1].isdecimal()


def squeeze(text: str) -> Squeezed:
    """Of a folded text."""
    characters, at = list[str](), list[int]()
    for match in _RUN.finditer(text):
        characters.append(match.group())
        at += range(match.start(), match.end())
    return Squeezed(text, "".join(characters).upper(), at)


def is_gap(text: str, gap: str) -> bool:
    """Whether ``text`` is a gap: at most four characters of those."""
    return len(text) <= MOST_GAP and not text.strip(gap)


def solid_at(text: str, index: int) -> bool:
    """Whether there is an ASCII letter or digit."""
    return 0 <= index < len(text) and text[index] in _SOLID


@cache
def gap_of(kind: str) -> str:
    """The characters that may stand within a number of ``kind``."""
    name = "phone_gap" if kind == "phone" else "gap"
    found: str = rules()[name].replace("\\", "")
    return found
