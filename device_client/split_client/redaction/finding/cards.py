"""Numbers of payment cards (ISO/IEC 7812): 13 to 19 digits that are valid by Luhn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from split_client.redaction import checks
from split_client.redaction.finding.looked import Looked
from split_client.redaction.finding.sequences import Group, sequences
from split_client.redaction.kinds import Found

_FIFTEEN: Final = re.compile("3[47]")
_FOURTEEN: Final = re.compile("3(?:[689]|0[0-5])")
_LEAST: Final = re.compile("[0-9]{13}")
_LENGTHS: Final = (19, 18, 17, 16, 15, 14, 13)


def cards(looked: Looked) -> Iterator[Found]:
    if not _LEAST.search(looked.squeezed.characters):
        return
    for groups in sequences(looked.text, "gap"):
        if sum(len(group.digits) for group in groups) < _LENGTHS[-1]:
            continue
        for start, end in _spans(looked.text, groups):
            key = "".join(group.digits for group in groups[start:end])
            yield looked.found("card", key, groups[start].start, groups[end - 1].end)


def _spans(text: str, groups: Sequence[Group]) -> list[tuple[int, int]]:
    """First group and last+1 of each card. Digits before one may make another number valid by
    chance: the usual length counts first, and of those gaps that are the same.
    """
    taken, free = list[tuple[int, int]](), [True] * len(groups)
    for usual, even in ((True, True), (True, False), (False, False)):
        for at in range(len(groups)):
            end = _end(groups, at, usual) if free[at] else None
            if end is None or not all(free[at:end]) or (even and not _even(text, groups[at:end])):
                continue
            free[at:end] = [False] * (end - at)
            taken.append((at, end))
    return sorted(taken)


def _end(groups: Sequence[Group], at: int, usual: bool) -> int | None:
    """Behind the last group of a card that begins at ``at``."""
    if groups[at].digits[0] not in "23456":
        return None
    digits, ends = "", dict[int, int]()
    for index in range(at, len(groups)):
        digits += groups[index].digits
        if len(digits) > _LENGTHS[0]:
            break
        ends[len(digits)] = index + 1
    for length in (_usual(digits),) if usual else _LENGTHS:
        if length in ends and checks.luhn(digits[:length]):
            return ends[length]
    return None


def _even(text: str, groups: Sequence[Group]) -> bool:
    between = (text[one.end : other.start] for one, other in pairwise(groups))
    return len({gap.replace("\n", " ") for gap in between}) < 2


def _usual(digits: str) -> int:
    if _FIFTEEN.match(digits):
        return 15
    return 14 if _FOURTEEN.match(digits) else 16
