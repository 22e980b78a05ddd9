"""Messages that the attacker expects: patterns written before any result, with slots to fill."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random

_FILE = Path(__file__).with_name("templates.json")
_SLOT = re.compile(r"\{(\w+)\}")
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_SPELLED = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve")


class Templates:
    """Filled from ``people``: rows with GivenName, Surname, StreetAddress, City and so on."""

    def __init__(self, people: list[dict[str, str]], words: list[str], rng: Random) -> None:
        document = json.loads(_FILE.read_text(encoding="utf-8"))
        self._patterns: list[str] = document["messages"]
        self._slots: dict[str, list[str]] = document["slots"]
        self._people, self._words, self._rng = people, words, rng

    def messages(self, count: int) -> list[str]:
        """``count`` of them, drawn at random."""
        return [
            _SLOT.sub(lambda slot: self._fill(slot[1]), self._rng.choice(self._patterns))
            for _ in range(count)
        ]

    def _fill(self, slot: str) -> str:
        if slot in self._slots:
            return self._rng.choice(self._slots[slot])
        person = self._rng.choice(self._people)
        return _PERSONAL[slot](person) if slot in _PERSONAL else self._number(slot)

    def _number(self, slot: str) -> str:
        rng = self._rng
        if slot == "word":
            return rng.choice(self._words)
        if slot == "n1":
            return rng.choice([str(rng.randint(1, 12)), _spelled(rng)])
        if slot == "n2":
            return str(rng.randint(10, 99))
        if slot == "year":
            return str(rng.randint(1930, 2026))
        if slot == "amount":
            return f"{rng.randint(1, 99) * 10 ** rng.randint(1, 3):{rng.choice([',', ''])}}"
        if slot == "plate":
            return f"{_letters(rng, 2)} {rng.randint(10, 999)} {_letters(rng, rng.randint(0, 3))}"
        if slot == "phone":
            return " ".join(_digits(rng, n) for n in rng.choice([(4, 3, 3), (3, 3, 4), (5, 6)]))
        return " ".join([_digits(rng, rng.choice([4, 5, 8]))] * rng.randint(1, 2))


_PERSONAL: dict[str, Callable[[dict[str, str]], str]] = {
    "name": lambda person: f"{person['GivenName']} {person['Surname']}",
    "first": lambda person: person["GivenName"],
    "last": lambda person: person["Surname"],
    "street": lambda person: person["StreetAddress"],
    "city": lambda person: person["City"],
    "email": lambda person: person["EmailAddress"],
}


def _digits(rng: Random, count: int) -> str:
    return "".join(str(rng.randint(0, 9)) for _ in range(count))


def _letters(rng: Random, count: int) -> str:
    return "".join(rng.choice(_LETTERS) for _ in range(count))


def _spelled(rng: Random) -> str:
    return rng.choice(_SPELLED)
