"""Surrogates of phone numbers: reserved for fiction where there are such, else of the same form."""

from __future__ import annotations

from split_client.redaction.rules import rules
from split_client.redaction.surrogates.draws import Draws


def phone(key: str, draws: Draws) -> str:
    code, _, number = key.rpartition(" ")
    prefixes = fiction(code.lstrip("+"), number)
    prefix = draws.one_of(prefixes) if prefixes else number[0]
    return f"{code} {prefix}{draws.digits(len(number) - len(prefix))}"


def fiction(code: str, number: str) -> list[str]:
    """Prefixes of numbers of that length that are reserved, those of the same sort if there are."""
    listed = [
        each
        for each in rules()["fiction"]
        if each["code"] == code and each["length"] == len(number)
    ]
    same = [each for each in listed if each["from"] and number.startswith(each["from"])]
    return [each["prefix"] for each in same or listed]
