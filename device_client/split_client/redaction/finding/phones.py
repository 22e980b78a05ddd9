"""Phone numbers: with a calling code anywhere, without one in the regions of the map."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from split_client.redaction.finding.looked import Looked
from split_client.redaction.finding.sequences import Group, sequences
from split_client.redaction.kinds import Found
from split_client.redaction.rules import Region, calling, regions

# Amounts, dates, spans of years, IP addresses of private networks, decimals: what else has many
# digits.
_MONEY: Final = r"(?:€|\$|£|EUR|USD|GBP|CHF)"
_OTHERS: Final = re.compile(
    rf"(?<![0-9+])(?!0[0-9])[0-9][0-9.,]{{0,30}}[ ]?(?:{_MONEY}|%)"
    rf"|{_MONEY}[ ]?(?!0[0-9])[0-9][0-9.,]{{0,30}}"
    r"|(?<![0-9])(?<![0-9][./\-])(?:"
    r"[0-9]{1,2}([./\-])[0-9]{1,2}\1[0-9]{4}"
    r"|[0-9]{4}([./\-])[0-9]{1,2}\2[0-9]{1,2}"
    r"|(?:19|20)[0-9]{2}-(?:19|20)[0-9]{2}"
    r"|(?<!\+)(?:10|127|169\.254|172\.(?:1[6-9]|2[0-9]|3[01])|192\.168)(?:\.[0-9]{1,3}){2,3}"
    r"|(?<![A-Za-z+])(?:0|[1-9][0-9]?)\.(?![0-9]{3,5}[ \n][0-9]{2,}(?![0-9]|[.,][0-9]))[0-9]+"
    r")(?![0-9])(?![./\-][0-9])"
)
# What an amount is the end of, if it is the end of a number.
_BEGUN: Final = re.compile(r"(?:\+|(?<![0-9])0)[0-9 \n\-./_()]{1,24}\Z")
_FAR: Final = 26
_NORTH_AMERICAN: Final = re.compile("[2-9][0-9]{2}[2-9][0-9]{6}")
_SEVEN: Final = re.compile("[0-9]{7}")
_LEAST, _MOST, _LEAST_NUMBER = 7, 17, 6


@dataclass(frozen=True, slots=True)
class _Number:
    key: str
    end: int


def phones(looked: Looked) -> Iterator[Found]:
    if not _SEVEN.search(looked.squeezed.characters):
        return
    text = _OTHERS.sub(_hidden, looked.text)
    for groups in sequences(text, "phone_gap"):
        at = 0
        while at < len(groups):
            start = groups[at].start
            plus = _plus(text, start)
            found = _number(groups[at : at + _MOST], plus is not None, looked.regions)
            later = None if plus is not None else _later(groups, at, found, looked.regions)
            if found is None or later is not None:
                at = at + 1 if later is None else later
                continue
            end = at + found.end
            first = start if plus is None else plus
            yield looked.found("phone", found.key, first, groups[end - 1].end)
            at = end


def _hidden(match: re.Match[str]) -> str:
    """A # for each character, unless it is the end of a number."""
    begun = _BEGUN.search(match.string, max(0, match.start() - _FAR), match.start())
    return match.group() if begun and match.group()[0] in "0123456789" else "#" * len(match.group())


def _later(
    groups: Sequence[Group], at: int, found: _Number | None, wanted: Sequence[str]
) -> int | None:
    """The group of a number with a trunk prefix that begins within the one at ``at``, and goes on
    behind it: then digits before that one made another of it.
    """
    if found is None or groups[at].digits.startswith("0"):
        return None
    for later in range(at + 1, at + found.end):
        if groups[later].digits.startswith("0"):
            other = _number(groups[later : later + _MOST], False, wanted)
            if other is not None and later + other.end > at + found.end:
                return later
    return None


def _plus(text: str, start: int) -> int | None:
    """Where the + of a number is that begins at ``start``."""
    before = start - 1
    if before > 0 and text[before] in " (":
        before -= 1
    return before if before >= 0 and text[before] == "+" else None


def _number(groups: Sequence[Group], plus: bool, wanted: Sequence[str]) -> _Number | None:
    ends = _ends(groups)
    if not ends:
        return None
    if plus or groups[0].digits.startswith("00"):
        found = _international(ends, 0 if plus else 2)
        # A + may be there for something else: no code begins with 0.
        if found is not None or not (plus and groups[0].digits.startswith("0")):
            return found
    return _national(ends, wanted) or _north_american(groups) or _unknown(ends, groups[0].digits)


def _ends(groups: Sequence[Group]) -> list[tuple[str, int]]:
    """Digits up to the ends of groups, with the number of groups; the longest first."""
    found, digits = list[tuple[str, int]](), ""
    for index, group in enumerate(groups):
        digits += group.digits
        if len(digits) > _MOST:
            break
        if len(digits) >= _LEAST:
            found.append((digits, index + 1))
    return found[::-1]


def _international(ends: Sequence[tuple[str, int]], skipped: int) -> _Number | None:
    code = next((c for n in (1, 2, 3) if (c := ends[0][0][skipped : skipped + n]) in calling()), "")
    if not code:
        return None
    known = [region for name in calling()[code] if (region := regions().get(name))]
    for digits, end in ends:
        rest = digits[skipped + len(code) :]
        for number in _without_trunk(rest, known[0].trunk if known else ""):
            if any(region.takes(number) for region in known):
                return _Number(f"+{code} {number}", end)
    for digits, end in ends:
        if 8 <= len(digits) - skipped <= 15:
            return _Number(f"+{code} {digits[skipped + len(code) :]}", end)
    return None


def _national(ends: Sequence[tuple[str, int]], wanted: Sequence[str]) -> _Number | None:
    for region in _regions(tuple(wanted)):
        for digits, end in ends:
            for number in _without_trunk(digits, region.trunk):
                if len(number) >= _LEAST_NUMBER and region.takes(number):
                    return _Number(f"+{region.code} {number}", end)
    return None


def _north_american(groups: Sequence[Group]) -> _Number | None:
    skipped = 1 if groups[0].digits == "1" else 0
    parts = [group.digits for group in groups[skipped : skipped + 3]]
    digits = "".join(parts)
    if [*map(len, parts)] == [3, 3, 4] and _NORTH_AMERICAN.fullmatch(digits):
        return _Number(f"+1 {digits}", skipped + 3)
    return None


def _unknown(ends: Sequence[tuple[str, int]], first: str) -> _Number | None:
    """Of some country where numbers begin with a 0."""
    if not first.startswith("0"):
        return None
    for digits, end in ends:
        if 9 <= len(digits) <= 13:
            return _Number(f"0 {digits[1:]}", end)
    return None


def _without_trunk(digits: str, trunk: str) -> Iterator[str]:
    if trunk and digits.startswith(trunk):
        yield digits[len(trunk) :]
    yield digits


@cache
def _regions(wanted: tuple[str, ...]) -> tuple[Region, ...]:
    return tuple(region for name in wanted if (region := regions().get(name)))
