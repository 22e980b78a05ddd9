"""Runs of digits with gaps between them, cut into groups at the gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from split_client.redaction.rules import rules
from split_client.redaction.squeezed import MOST_GAP


@dataclass(frozen=True, slots=True)
class Group:
    """Digits without a gap, at ``start`` to ``end``."""

    digits: str
    start: int
    end: int


def sequences(text: str, gap: str) -> Iterator[list[Group]]:
    """The longest runs; a group that an ASCII letter touches is in none. ``gap``: the name in
    ``rules.json`` of the characters that gaps have.
    """
    for match in _sequence(gap).finditer(text):
        groups = re.finditer("[0-9]+", match.group())
        start = match.start()
        yield [Group(each.group(), start + each.start(), start + each.end()) for each in groups]


@cache
def _sequence(gap: str) -> re.Pattern[str]:
    between = f"[{rules()[gap]}]{{1,{MOST_GAP}}}"
    group = "[0-9]+(?![0-9A-Za-z])"
    return re.compile(f"(?<![0-9A-Za-z]){group}(?:{between}{group})*")
