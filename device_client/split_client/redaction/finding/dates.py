"""Dates in figures and in words, which are dates of birth where somebody has asked for those."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import DateParts, Found
from split_client.redaction.rules import rules

_FORMS: Final = ("figures", "iso", "words", "turned")
_YEARS: Final = range(1900, 2030)


def dates(looked: Looked) -> Iterator[Found]:
    behind = 0
    for key, start, end, parts in dates_in(looked.text, looked.lower, looked.months_first):
        if start >= behind:
            yield looked.found("date", key, start, end, parts=parts)
            behind = end


def dates_in(
    text: str, lowered: str, months_first: bool
) -> Iterator[tuple[str, int, int, DateParts]]:
    """Key, start, end and parts of what may be read as a date from each place on; ``lowered``: the
    text in small letters.
    """
    if not any(character in text for character in "0123456789"):
        return
    at = 0
    while match := _dates().search(lowered, at):
        at = match.start() + 1
        form = next(name for name in _FORMS if match.group(name))
        found = _read(match, form, months_first)
        if found:
            yield found


def _read(
    match: re.Match[str], form: str, months_first: bool
) -> tuple[str, int, int, DateParts] | None:
    names = [f"{form}_{part}" for part in ("day", "month", "year")]
    if form == "figures" and months_first and match.group("between") == "/":
        names[0], names[1] = names[1], names[0]
    day, month, year = map(match.group, names)
    words = (
        None
        if month.isdecimal()
        else next(index for index, listed in enumerate(rules()["months"]) if month in listed)
    )
    number = int(month) if words is None else rules()["months"][words].index(month) + 1
    if not (1 <= int(day) <= 31 and 1 <= number <= 12 and int(year) in _YEARS):
        return None
    parts = DateParts(match.span(names[0]), match.span(names[1]), match.span(names[2]), words)
    return f"{int(year):04}-{number:02}-{int(day):02}", *match.span(), parts


@cache
def _dates() -> re.Pattern[str]:
    months = sorted({month for listed in rules()["months"] for month in listed}, key=_longest)
    month, gap = "|".join(months), "[ \\n]{1,3}"
    suffix = "(?:\\.|st|nd|rd|th)?"
    return re.compile(
        "(?<![0-9a-z])(?<![0-9][./\\-])(?:"
        "(?P<figures>(?P<figures_day>[0-9]{1,2})(?P<between>[./\\-])"
        "(?P<figures_month>[0-9]{1,2})(?P=between)(?P<figures_year>[0-9]{4}))"
        "|(?P<iso>(?P<iso_year>[0-9]{4})(?P<dash>[./\\-])(?P<iso_month>[0-9]{1,2})(?P=dash)"
        "(?P<iso_day>[0-9]{1,2}))"
        f"|(?P<words>(?P<words_day>[0-9]{{1,2}}){suffix}{gap}(?:of{gap})?"
        f"(?P<words_month>{month})[.,]?{gap}(?P<words_year>[0-9]{{4}}))"
        f"|(?P<turned>(?P<turned_month>{month})\\.?{gap}(?P<turned_day>[0-9]{{1,2}}){suffix},?{gap}"
        "(?P<turned_year>[0-9]{4}))"
        ")(?![0-9a-z])"
    )


def _longest(month: str) -> tuple[int, str]:
    return -len(month), month
