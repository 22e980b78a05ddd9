"""Made-up values that pass every check, and ten ways to write each."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from split_client.redaction import checks

Kind = Literal["iban", "card", "phone"]
KINDS: Final[tuple[Kind, ...]] = ("iban", "card", "phone")
# Lengths of national parts that are digits alone, by country.
_DIGITS: Final = {"DE": 18, "AT": 16, "BE": 12, "ES": 20, "PL": 24, "SE": 20, "DK": 14, "CH": 17}
_LETTERS: Final = {"GB": (4, 14), "NL": (4, 10), "IE": (4, 14), "LV": (4, 13)}
_CARDS: Final = (("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("37", 15), ("6011", 16))
# Whose numbers are written without a code where they are the chat's.
REGIONS: Final = ("DE", "US", "GB", "FR", "ES", "IT", "NL", "PL", "SE", "CH", "AT", "AU")


@dataclass(frozen=True, slots=True)
class Value:
    """``solid``: what must not be read in what was sent; ``written``: plainly. ``region``: of a
    phone number that is written without its code.
    """

    kind: Kind
    solid: str
    written: str
    region: str = ""


def values(count: int, seed: int) -> list[Value]:
    """As many of each kind, but for a rest."""
    rng = random.Random(seed)
    makers: dict[Kind, Callable[[random.Random], Value]] = {
        "iban": _iban,
        "card": _card,
        "phone": _phone,
    }
    return [makers[KINDS[number % len(KINDS)]](rng) for number in range(count)]


def _iban(rng: random.Random) -> Value:
    country = rng.choice([*_DIGITS, *_LETTERS])
    if country in _DIGITS:
        rest = _digits(rng, _DIGITS[country])
    else:
        letters, digits = _LETTERS[country]
        rest = "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(letters))
        rest += _digits(rng, digits)
    check = 98 - checks.iban_remainder(f"{country}00{rest}")
    return Value("iban", rest, f"{country}{check:02}{rest}")


def _card(rng: random.Random) -> Value:
    begin, length = rng.choice(_CARDS)
    digits = begin + _digits(rng, length - len(begin) - 1)
    number = next(digits + last for last in "0123456789" if checks.luhn(digits + last))
    return Value("card", number, number)


def _phone(rng: random.Random) -> Value:
    """Valid by libphonenumber, with its code or, every other one, without."""
    import phonenumbers
    from phonenumbers import PhoneNumberFormat, PhoneNumberType

    region = rng.choice(REGIONS)
    kind = rng.choice([PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE])
    while True:
        number: Any = phonenumbers.example_number_for_type(region, kind)
        digits = str(number.national_number)
        number.national_number = int(digits[:-5] + _digits(rng, 5))
        if phonenumbers.is_valid_number(number):
            break
    national = rng.random() < 0.5
    form = PhoneNumberFormat.NATIONAL if national else PhoneNumberFormat.E164
    written = phonenumbers.format_number(number, form)
    plain = "".join(each for each in written if each.isdecimal() or each == "+")
    return Value("phone", str(number.national_number), plain, region if national else "")


def _digits(rng: random.Random, count: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(count))


def spellings(written: str) -> list[str]:
    """Ten of them."""
    size = 4 if len(written) > 13 else 3
    groups = [written[at : at + size] for at in range(0, len(written), size)]
    half = len(groups) // 2
    return [
        written,
        " ".join(groups),
        "-".join(groups),
        ".".join(groups),
        "".join(_wide(each) for each in written),
        "\u00a0".join(groups),
        " ".join(groups[:half]) + "\n" + " ".join(groups[half:]),
        "\u200b".join(groups),
        "".join(_arabic(each) for each in " ".join(groups)),
        " ".join(written) if not written.startswith("+") else "+" + " ".join(written[1:]),
    ]


def _wide(character: str) -> str:
    return chr(ord(character) + 0xFEE0) if "!" <= character <= "~" else character


def _arabic(character: str) -> str:
    return chr(0x0660 + int(character)) if character in "0123456789" else character
