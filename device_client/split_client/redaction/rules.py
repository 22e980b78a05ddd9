"""The lists that the rules go by, which the web app reads as well: ``data/``, read once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

_DATA: Final = Path(__file__).with_name("data")


@dataclass(frozen=True, slots=True)
class Region:
    """A country's numbers: its calling ``code``, ``trunk`` prefix and what a ``number`` is."""

    code: str
    trunk: str
    number: re.Pattern[str]

    def takes(self, number: str) -> bool:
        """Whether the digits are a number of it."""
        return self.number.fullmatch(number) is not None


@dataclass(frozen=True, slots=True)
class NameLists:
    """Keys of words. ``given``: first names with the sex that they suggest (f, m, n)."""

    given: dict[str, str]
    family: frozenset[str]
    common: frozenset[str]


@cache
def rules() -> dict[str, Any]:
    """``data/rules.json``."""
    return _read("rules.json")


@cache
def words(name: str) -> frozenset[str]:
    """A list of words in ``rules.json``."""
    return frozenset(rules()[name])


@cache
def pattern(text: str) -> re.Pattern[str]:
    """A pattern of ``rules.json``, in which classes of letters are named."""
    upper, letter = rules()["upper"], rules()["letter"]
    return re.compile(text.replace("{upper}", upper).replace("{letter}", letter))


@cache
def regions() -> dict[str, Region]:
    """By the two letters of the country."""
    found = _read("phones.json")["regions"]
    return {
        name: Region(each["code"], each["trunk"], re.compile(each["number"]))
        for name, each in found.items()
    }


@cache
def calling() -> dict[str, tuple[str, ...]]:
    """The regions of a calling code, the main one first."""
    return {code: tuple(names) for code, names in _read("phones.json")["calling"].items()}


@cache
def names() -> NameLists:
    """``data/names.json``."""
    found = _read("names.json")
    given = {name: sex for sex in "fmn" for name in found["given"][sex].split()}
    return NameLists(given, frozenset(found["family"].split()), frozenset(found["common"].split()))


def ranges(name: str) -> Iterator[int]:
    """The code points of a list of ranges in ``rules.json``."""
    for first, last in rules()[name]:
        yield from range(first, last + 1)


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_DATA / name).read_text("utf-8"))
    return found
