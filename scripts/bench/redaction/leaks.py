"""Planted numbers, looked for in what a real server was sent."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from scripts.bench.redaction.tap import Table, tapped
from scripts.bench.redaction.values import Kind, Value, spellings
from split_client import SplitClient
from split_client.redaction.settings import RedactionSettings

# Characters in a row that nobody finds in two numbers by chance.
_RUN: Final = 9
_BEFORE: Final[dict[Kind, str]] = {
    "iban": "Please pay to",
    "card": "My card is",
    "phone": "Call me at",
}


@dataclass(frozen=True, slots=True)
class Leaks:
    """``planted`` spellings of so many ``values``; ``leaked``: those that could be read."""

    values: int
    planted: Counter[Kind]
    leaked: list[str]
    rows: int


def leaks(
    client: SplitClient, values: Sequence[Value], rows: int, at_once: int = 24, redact: bool = True
) -> Leaks:
    """Send every spelling of every value, ``at_once`` in a message, and read along."""
    table, planted, leaked, seen = Table(client.ends, rows), Counter[Kind](), list[str](), 0
    for region, some in _by_region(values).items():
        settings = RedactionSettings(regions=(region,) if region else ())
        for number in range(10):
            for part in _parts(some, at_once):
                text, read = _sent(client, table, part, number, settings if redact else False)
                seen += len(read)
                for value in part:
                    planted[value.kind] += 1
                    if _occurs(value, read):
                        leaked.append(f"{value.kind} {spellings(value.written)[number]!r} {text!r}")
    return Leaks(len(values), planted, leaked, seen)


def _sent(
    client: SplitClient,
    table: Table,
    part: Sequence[Value],
    number: int,
    settings: RedactionSettings | bool,
) -> tuple[str, str]:
    """The message, and what of it was read from its rows."""
    said = [f"{_BEFORE[value.kind]} {spellings(value.written)[number]}; " for value in part]
    text = "".join(said) + "thanks."
    with tapped() as frames:
        chat = client.conversation(redact=settings, max_tokens=1)
        chat.send(text).read()
        chat.close()
    return text, table.read(frames)


def _occurs(value: Value, read: str) -> bool:
    solid = re.sub("[^0-9A-Z]", "", _plain(read).upper())
    run = min(_RUN, len(value.solid))
    parts = (value.solid[at : at + run] for at in range(len(value.solid) - run + 1))
    return any(part in solid for part in parts)


def _plain(text: str) -> str:
    """Digits of any script as ASCII, by the database of Unicode."""
    made = unicodedata.normalize("NFKC", text)
    return "".join(str(unicodedata.decimal(each, each)) for each in made)


def _by_region(values: Iterable[Value]) -> dict[str, list[Value]]:
    found: dict[str, list[Value]] = {}
    for value in values:
        found.setdefault(value.region, []).append(value)
    return found


def _parts(values: Sequence[Value], size: int) -> list[Sequence[Value]]:
    return [values[at : at + size] for at in range(0, len(values), size)]
