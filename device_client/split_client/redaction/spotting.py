"""Where values or surrogates that are known stand in a text, in any spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from split_client.redaction.entries import Entry
from split_client.redaction.finding.dates import dates_in
from split_client.redaction.finding.looked import Looked
from split_client.redaction.finding.streets import plain_key
from split_client.redaction.finding.words import words_in
from split_client.redaction.folding import fold, lower
from split_client.redaction.kinds import NAMES, NUMBERS, DateParts, Kind, number_of
from split_client.redaction.rules import calling, regions
from split_client.redaction.squeezed import Squeezed, gap_of


@dataclass(frozen=True, slots=True)
class Known:
    """A text of ``kind`` that is looked for, in the form of a key; ``entry``: whose it is."""

    kind: Kind
    key: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one stands, in folded characters; ``parts`` of a date."""

    start: int
    end: int
    known: Known
    parts: DateParts | None = None


def key_of(kind: Kind, text: str) -> str:
    """The key of a surrogate."""
    if kind in NUMBERS or kind == "date":
        return text
    return plain_key(lower(fold(text).text))


@dataclass
class Spotter:
    """Looks for what was added. ``strict``: a phone number is none where a digit stands before it,
    but those of its code, or behind it, also with a gap between: it is part of another one.
    """

    strict: bool = False
    numbers: dict[str, Known] = field(default_factory=dict)
    texts: dict[str, Known] = field(default_factory=dict)
    dates: dict[str, Known] = field(default_factory=dict)
    names: dict[str, Known] = field(default_factory=dict)
    count: int = 0

    def add(self, known: Known) -> None:
        """The first that has a key keeps it; ``count`` grows."""
        self.count += 1
        kind, key = known.kind, known.key
        if kind in NUMBERS:
            self.numbers.setdefault(number_of(kind, key), known)
        elif kind == "date":
            self.dates.setdefault(key, known)
        elif kind in NAMES:
            self.names.setdefault(key, known)
        else:
            self.texts.setdefault(key, known)

    def spots(self, looked: Looked) -> list[Spot]:
        """Without overlap, from left to right; of those that begin at one place the longest."""
        found = [*self._numbers(looked), *self._texts(looked)]
        found += [*self._dates(looked), *self._names(looked)]
        return apart(found)

    def _numbers(self, looked: Looked) -> Iterator[Spot]:
        if not self.numbers:
            return
        squeezed = looked.squeezed
        for number, known in self.numbers.items():
            if number not in squeezed.characters:
                continue
            for first, end in squeezed.occurrences(number, gap_of(known.kind)):
                if _alone(squeezed, first, end, known) and (
                    not self.strict or known.kind != "phone" or _apart(squeezed, first, end, known)
                ):
                    yield Spot(squeezed.at[first], squeezed.at[end - 1] + 1, known)

    def _texts(self, looked: Looked) -> Iterator[Spot]:
        for key, known in self.texts.items():
            if key.partition(" ")[0] in looked.lower:
                for match in _spelled(key).finditer(looked.lower):
                    yield Spot(*match.span(), known)

    def _dates(self, looked: Looked) -> Iterator[Spot]:
        if not self.dates:
            return
        for key, start, end, parts in dates_in(looked.text, looked.lower, looked.months_first):
            if known := self.dates.get(key):
                yield Spot(start, end, known, parts)

    def _names(self, looked: Looked) -> Iterator[Spot]:
        if not self.names:
            return
        for word in words_in(looked.text, looked.lower):
            key = word.key
            known = self.names.get(key)
            if known is None and key.endswith("s"):
                key = key[:-1]
                known = self.names.get(key)
            if known is not None:
                yield Spot(word.start, word.start + len(key), known)


def apart(found: Iterable[Spot]) -> list[Spot]:
    """Those that do not overlap with one that begins before, or there and is longer."""
    kept, end = list[Spot](), 0
    for spot in sorted(found, key=lambda spot: (spot.start, -spot.end)):
        if spot.start >= end:
            kept.append(spot)
            end = spot.end
    return kept


def _alone(squeezed: Squeezed, first: int, end: int, known: Known) -> bool:
    if known.kind == "iban":
        return not squeezed.follows_digit(first) and not squeezed.precedes_digit(end)
    if squeezed.goes_on(end):
        return False
    if not squeezed.touches(first):
        return True
    return known.kind == "phone" and _prefix(squeezed, first) in _prefixes(known.key)


def _apart(squeezed: Squeezed, first: int, end: int, known: Known) -> bool:
    """Whether the number goes on neither before nor behind, but for its code."""
    gap, start = gap_of("phone"), first
    while start > 0 and squeezed.together(start - 1, start + 1, gap) and first - start <= 8:
        if not squeezed.characters[start - 1].isdecimal():
            break
        start -= 1
    before = squeezed.characters[start:first]
    if before and before not in _prefixes(known.key):
        return False
    if end >= len(squeezed.characters) or not squeezed.characters[end].isdecimal():
        return True
    return not squeezed.together(end - 1, end + 1, gap)


def _prefix(squeezed: Squeezed, first: int) -> str:
    """The letters and digits directly before."""
    start = first
    while start > 0 and squeezed.touches(start) and first - start <= 8:
        start -= 1
    return squeezed.characters[start:first]


@cache
def _prefixes(key: str) -> frozenset[str]:
    """What may stand directly before the number of a phone: its code, a trunk prefix or both."""
    code = key.rpartition(" ")[0].lstrip("+")
    if not key.startswith("+"):
        return frozenset(("0",))
    known = (regions().get(name) for name in calling().get(code, ()))
    trunks = {region.trunk for region in known if region is not None} | {""}
    return frozenset(before + trunk for trunk in trunks for before in ("", code, "00" + code)) - {
        ""
    }


@cache
def _spelled(key: str) -> re.Pattern[str]:
    body = "[ \\n]{1,3}".join(map(re.escape, key.split(" ")))
    letters = "0-9A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ"
    return re.compile(f"(?<![{letters}]){body}(?![{letters}])")
