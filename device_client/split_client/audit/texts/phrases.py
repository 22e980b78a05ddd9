"""Messages with slots, filled with names, places and numbers: what people write to a chat."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from random import Random

_SLOT = re.compile(r"\{(\w+)\}")
_DIGITS = re.compile(r"d(\d+)")
_DOMAINS = ("gmail.com", "yahoo.com", "hotmail.com", "example.com", "example.org", "web.de")
# How people write: without capitals, without a last full stop.
_LOWER, _OPEN = 0.08, 0.12


def phrases() -> tuple[str, ...]:
    """The shipped messages, with their slots."""
    lines = _data("phrases.txt").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def lists() -> dict[str, list[str]]:
    """The shipped words by slot."""
    given: dict[str, str] = json.loads(_data("lists.json"))
    return {name: text.split("|" if "|" in text else None) for name, text in given.items()}


class Filler:
    """Fills slots from ``words`` (by slot) with draws of ``rng``."""

    def __init__(self, words: Mapping[str, Sequence[str]], rng: Random) -> None:
        self._words, self._rng = words, rng
        self._made: dict[str, Callable[[], str]] = {
            "age": lambda: str(rng.randint(1, 95)),
            "day": lambda: str(rng.randint(1, 31)),
            "year": lambda: str(rng.choice((rng.randint(1930, 2010), rng.randint(2000, 2030)))),
            "time": self._time,
            "phone": self._phone,
            "email": self._email,
            "iban": self._iban,
            "number": lambda: str(rng.randint(1, rng.choice((40, 400)))),
            "million": lambda: str(rng.randint(1, rng.choice((9, 90)))),
            "money": self._money,
            "password": self._password,
            "hex": lambda: self._letters("0123456789abcdef", rng.randint(6, 12)),
            "upper": lambda: self._letters("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1),
        }

    def fill(self, phrase: str) -> str:
        """``phrase`` with every slot filled, as one of many people would write it."""
        text = _SLOT.sub(lambda found: self._value(found[1]), phrase)
        if self._rng.random() < _LOWER:
            text = text.lower()
        if self._rng.random() < _OPEN:
            text = text.rstrip(".")
        return text

    def _value(self, slot: str) -> str:
        if slot in self._made:
            return self._made[slot]()
        digits = _DIGITS.fullmatch(slot)
        if digits is not None:
            return self._digits(int(digits[1]))
        return self._rng.choice(self._words[slot])

    def _letters(self, alphabet: str, count: int) -> str:
        return "".join(self._rng.choice(alphabet) for _ in range(count))

    def _digits(self, count: int) -> str:
        return self._letters("0123456789", count)

    def _time(self) -> str:
        hour, minute = self._rng.randint(1, 23), self._rng.choice((0, 15, 30, 40, 45, 50))
        plain = f"{hour}:{minute:02}"
        return self._rng.choice((plain, f"{hour} o'clock", f"{hour % 12 + 1} pm", "noon", "eight"))

    def _phone(self) -> str:
        digits = self._digits
        return self._rng.choice(
            (
                f"{digits(3)} {digits(4)}",
                f"{digits(3)}-{digits(3)}-{digits(4)}",
                f"0{digits(3)} {digits(6)}",
                f"+{digits(2)} {digits(3)} {digits(7)}",
                f"0{digits(10)}",
            )
        )

    def _email(self) -> str:
        first = self._rng.choice(self._words["first"]).lower()
        last = self._rng.choice(self._words["last"]).lower()
        domain = self._rng.choice(_DOMAINS)
        name = self._rng.choice((first, f"{first}.{last}", f"{first}{self._digits(2)}"))
        return f"{name}@{domain}"

    def _iban(self) -> str:
        country = self._rng.choice(("DE", "GB", "FR", "ES", "IT", "NL", "AT", "CH"))
        blocks = " ".join(self._digits(4) for _ in range(self._rng.randint(2, 5)))
        return f"{country}{self._digits(2)} {blocks}"

    def _money(self) -> str:
        amount = str(self._rng.randint(1, 99) * 10 ** self._rng.randint(0, 4))
        currency = self._rng.choice(("dollars", "euros", "pounds", ""))
        return f"{amount} {currency}".strip()

    def _password(self) -> str:
        word = self._rng.choice(self._words["word"])
        other = self._rng.choice(self._words["word"])
        digits = self._digits(self._rng.randint(1, 4))
        return self._rng.choice(
            (f"{word}{digits}", f"{word.title()}{digits}!", f"{word}-{other}-{digits}")
        )


def filled(filler: Filler, times: int) -> Iterator[str]:
    """Every shipped message, filled so many times."""
    for phrase in phrases():
        for _ in range(times if _SLOT.search(phrase) else 1):
            yield filler.fill(phrase)


def _data(name: str) -> str:
    return files("split_client.audit.texts").joinpath("data", name).read_text("utf-8")
