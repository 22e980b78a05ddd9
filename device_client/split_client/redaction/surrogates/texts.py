"""Surrogates of e-mail and postal addresses, dates and names."""

from __future__ import annotations

from typing import Any, Final

from split_client.redaction.kinds import Kind
from split_client.redaction.rules import names, rules
from split_client.redaction.surrogates.draws import Draws

# Attempts at names from lists; beyond them names are made of syllables.
LISTED: Final = 64
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"


def email(draws: Draws) -> str:
    """At a domain that RFC 2606 reserves."""
    word, digits = draws.one_of(rules()["mail"]), draws.digits(4)
    return f"{word}{digits}@{draws.one_of(rules()['domains'])}"


def date(key: str, draws: Draws) -> str:
    """Of the same number of digits when it is written without zeros."""
    year, month, day = (int(part) for part in key.split("-"))
    made = min(2029, max(1900, year + draws.below(9) - 4))
    months = range(1, 10) if month < 10 else range(10, 13)
    days = range(1, 10) if day < 10 else range(10, 29)
    return f"{made:04}-{draws.one_of(months):02}-{draws.one_of(days):02}"


def street(key: str, rule: str, draws: Draws) -> str:
    known = _rule("streets", rule)
    count = sum(character.isdecimal() for character in key)
    name = draws.one_of(known["surrogates"])
    number = str(1 + draws.below(9)) + draws.digits(min(count, 5) - 1)
    return str(known["form"]).format(street=name, number=number)


def place(rule: str, draws: Draws) -> str:
    known = _rule("places", rule)
    name = draws.one_of(known["surrogates"])
    form = "".join(draws.digits(1) if each == "9" else each for each in known["form"])
    return form.format(place=name)


def name(kind: Kind, key: str, attempt: int, draws: Draws) -> str:
    """``kind``: given or family."""
    if attempt >= LISTED:
        made = "".join(draws.one_of(_CONSONANTS) + draws.one_of(_VOWELS) for _ in range(3))
        return made.capitalize() + "n"
    lists = rules()["surrogates"]
    if kind == "family":
        return str(draws.one_of(lists["family"]))
    sex = names().given.get(key, "n")
    if sex == "n":
        sex = draws.one_of("fm")
    return str(draws.one_of(lists[sex]))


def _rule(listed: str, wanted: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = rules()[listed]
    return next((each for each in found if each["name"] == wanted), found[0])
