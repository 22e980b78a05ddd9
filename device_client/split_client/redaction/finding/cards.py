"""Numbers of payment cards (ISO/IEC 7812): 13 to 19 digits that are valid by Luhn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
        at = 0
        while at < len(groups):
            end = _end(groups, at)
            if end is None:
                at += 1
                continue
            key = "".join(group.digits for group in groups[at:end])
            yield looked.found("card", key, groups[at].start, groups[end - 1].end)
            at = end


def _end(groups: Sequence[Group], at: int) -> int | None:
    """Behind the last group of a card that begins at ``at``."""
    if groups[at].digits[0] not in "23456":
        return None
    digits, ends = "", dict[int, int]()
    for index in range(at, len(groups)):
        digits += groups[index].digits
        if len(digits) > _LENGTHS[0]:
            break
        ends[len(digits)] = index + 1
    for length in (_usual(digits), *_LENGTHS):
        if length in ends and checks.luhn(digits[:length]):
            return ends[length]
    return None


def _usual(digits: str) -> int:
    if _FIFTEEN.match(digits):
        return 15
    return 14 if _FOURTEEN.match(digits) else 16
