"""National ids, by the patterns and checks of ``rules.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from split_client.redaction import checks
from split_client.redaction.finding.looked import Looked
from split_client.redaction.kinds import Found
from split_client.redaction.rules import rules
from split_client.redaction.squeezed import MOST_GAP

_SOLID: Final = re.compile("[0-9A-Za-z]+")
_FAR: Final = 10
_CODE: Final = re.compile("\\+[0-9 \\-./()]{0,8}\\Z")
_SPACED_BEFORE: Final = re.compile("[0-9] \\Z")
_SPACED_BEHIND: Final = re.compile(" [0-9]")
_CLASSES: Final = {"9": "[0-9]", "A": "[A-Za-z]", "X": "[0-9A-Za-z]"}


def ids(looked: Looked) -> Iterator[Found]:
    taken = list[tuple[int, int]]()
    for rule in rules()["ids"]:
        wanted = rule.get("regions")
        if wanted and not set(wanted) & set(looked.regions):
            continue
        if not _solid(rule["pattern"]).search(looked.squeezed.characters):
            continue
        for found in _of(rule, looked):
            if all(found.end <= start or end <= found.start for start, end in taken):
                taken.append((found.start, found.end))
                yield found


def _of(rule: Mapping[str, Any], looked: Looked) -> Iterator[Found]:
    search, at = _searched(rule["pattern"], rule["gaps"]), 0
    while match := search.search(looked.text, at):
        written = match.group()
        key = "".join(_SOLID.findall(written)).upper()
        # Words that happen to stand so are in small letters, or some of them are.
        plain = written == written.upper() or len(written) == len(key)
        whole = _stands_alone(looked.text, *match.span())
        if plain and whole and checks.holds(rule, key):
            yield looked.found("id", key, *match.span(), rule["name"])
            at = match.end()
        else:
            at = match.start() + 1


@cache
def _solid(pattern: str) -> re.Pattern[str]:
    """What its letters and digits are where nothing stands between: quick to look for."""
    return re.compile("".join(_CLASSES.get(each, each) for each in pattern if each != "-"))


@cache
def _searched(pattern: str, gaps: str) -> re.Pattern[str]:
    solid = [_CLASSES.get(each, each) for each in pattern]
    if gaps == "any":
        body = f"[{rules()['gap']}]{{0,{MOST_GAP}}}".join(solid)
    else:
        body = "".join("[ \\n\\-./]" if each == "-" else each for each in solid)
    # A part of another number, of a phone for example, is none.
    begin = "(?<![0-9A-Za-z+])(?<![0-9][\\-./()])"
    return re.compile(f"{begin}{body}(?![0-9A-Za-z])(?![\\-./()][0-9])")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether it is no number of a phone behind its code, and no part of a number with spaces."""
    before = text[max(0, start - _FAR) : start]
    if _CODE.search(before):
        return False
    if not {" ", "\n"} & {*text[start:end]}:
        return True
    return not (_SPACED_BEFORE.search(before) or _SPACED_BEHIND.match(text, end))
