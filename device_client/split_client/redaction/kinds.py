"""Kinds of values, and where one is in a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "email", "iban", "card", "id", "phone", "date", "street", "place", "given", "family"
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
# Spelled character by character, with gaps.
NUMBERS: Final = frozenset[Kind](("iban", "card", "id", "phone"))
# Spelled as a whole, as they were first written.
TEXTS: Final = frozenset[Kind](("email", "street", "place"))
NAMES: Final = frozenset[Kind](("given", "family"))

# What a person switches: by the word for it, the kinds that it stands for.
GROUPS: Final[dict[str, tuple[Kind, ...]]] = {
    "names": ("given", "family"),
    "emails": ("email",),
    "ibans": ("iban",),
    "cards": ("card",),
    "ids": ("id",),
    "phones": ("phone",),
    "addresses": ("street", "place"),
    "dates": ("date",),
}
# Every date is one of birth then, so they are left alone unless somebody asks.
ON_REQUEST: Final = frozenset(("dates",))


@dataclass(frozen=True, slots=True)
class DateParts:
    """Where day, month and year are written, in folded characters; ``words``: the number of the
    list of months that the month is from, None where it is in figures.
    """

    day: tuple[int, int]
    month: tuple[int, int]
    year: tuple[int, int]
    words: int | None


@dataclass(frozen=True, slots=True)
class Found:
    """The value ``key`` of ``kind`` at the folded characters ``start`` to ``end``.

    ``written``: it as it is spelled there; ``rule``: of an id or an address, which one found it;
    ``parts``: of a date.
    """

    kind: Kind
    key: str
    start: int
    end: int
    written: str
    rule: str = ""
    parts: DateParts | None = None


def number_of(kind: Kind, key: str) -> str:
    """The characters of ``key`` that are replaced, of the kinds that are numbers."""
    return key.rpartition(" ")[2] if kind == "phone" else key
