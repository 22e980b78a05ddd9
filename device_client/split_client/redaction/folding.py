"""A text as the rules look at it, and where each character of it comes from.

Spellings that look alike become one: full-width and Arabic digits, all spaces, dashes and dots,
letters with their marks apart, and characters that nobody sees.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from split_client.redaction.rules import ranges, rules

# A character with the marks on it, or one that is not ASCII.
_CLUSTER: Final = re.compile("[\\s\\S][\u0300-\u036f]+|[^\x00-\x7f]")
_ASCII: Final = str.maketrans("\t\v\f\r", " \n\n\n")


@dataclass(frozen=True, slots=True)
class Folded:
    """``text``, whose character i is of ``source[starts[i]:ends[i]]``."""

    source: str
    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The range in the source of the characters from ``start`` to ``end``, one at least."""
        return self.starts[start], self.ends[end - 1]


def fold(source: str) -> Folded:
    """Takes time in proportion to the length."""
    if source.isascii():
        return _same(source, source.translate(_ASCII))
    parts, starts, ends, at = list[str](), list[int](), list[int](), 0
    even = True
    for match in _CLUSTER.finditer(source):
        start, end = match.span()
        made = _folded(match.group())
        parts += (source[at:start].translate(_ASCII), made)
        starts += range(at, start)
        ends += range(at + 1, start + 1)
        starts += [start] * len(made)
        ends += [end] * len(made)
        even = even and len(made) == end - start == 1
        at = end
    parts.append(source[at:].translate(_ASCII))
    if even:
        return _same(source, "".join(parts))
    starts += range(at, len(source))
    ends += range(at + 1, len(source) + 1)
    return Folded(source, "".join(parts), starts, ends)


def lower(text: str) -> str:
    """In small letters, as long as it was."""
    made = text.lower()
    if len(made) == len(text) and "Σ" not in text:
        return made
    return "".join(map(_lower, text))


def _same(source: str, text: str) -> Folded:
    return Folded(source, text, range(len(text)), range(1, len(text) + 1))


@lru_cache(maxsize=4096)
def _folded(cluster: str) -> str:
    return unicodedata.normalize("NFKC", cluster).translate(_table())


def _lower(character: str) -> str:
    made = character.lower()
    return made if len(made) == 1 else character


@cache
def _table() -> dict[int, str]:
    table = dict.fromkeys(ranges("nothing"), "")
    for name, made in (
        ("space", " "),
        ("line", "\n"),
        ("dash", "-"),
        ("apostrophe", "'"),
        ("dot", "."),
        ("slash", "/"),
    ):
        table |= dict.fromkeys(ranges(name), made)
    for zero in rules()["zeros"]:
        table |= {zero + digit: str(digit) for digit in range(10)}
    return table
