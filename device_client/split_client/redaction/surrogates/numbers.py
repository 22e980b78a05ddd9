"""Surrogates of IBANs, cards and national ids, which nobody has."""

from __future__ import annotations

from typing import Any, Final

from split_client.redaction import checks
from split_client.redaction.rules import rules
from split_client.redaction.surrogates.draws import Draws

# For assignment by a national body, of a country code that nobody has (ISO/IEC 7812-1).
_CARD: Final = "9999"
_BANK: Final = 4


def iban(key: str, draws: Draws) -> str:
    """Valid, of a bank code that no bank has that we know of."""
    bank = "".join("0" if each.isdecimal() else "X" for each in key[4 : 4 + _BANK])
    rest = bank + draws.like(key[4 + _BANK :])
    check = 98 - checks.iban_remainder(key[:2] + "00" + rest)
    return f"{key[:2]}{check:02}{rest}"


def card(key: str, draws: Draws) -> str:
    digits = _CARD + draws.digits(len(key) - len(_CARD) - 1)
    return next(digits + last for last in "0123456789" if checks.luhn(digits + last))


def national_id(key: str, rule: str, draws: Draws) -> str | None:
    """None where it could be somebody's."""
    known = _rule(rule)
    reserved = str(known.get("reserved", ""))
    made = reserved + draws.like(key[len(reserved) :])
    return None if known and checks.holds(known, made) else made


def _rule(name: str) -> dict[str, Any]:
    found = (each for each in rules()["ids"] if each["name"] == name)
    return next(found, {})
