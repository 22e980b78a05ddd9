"""Replies that use surrogates, undone in pieces and compared with what they should say."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

from scripts.bench.redaction.values import spellings, values
from split_client.redaction.entries import Entry
from split_client.redaction.kinds import NUMBERS, number_of
from split_client.redaction.redactor import Redactor
from split_client.redaction.settings import RedactionSettings
from split_client.redaction.undoing.stream import Undo

_PEOPLE: Final = ("Anna Schmidt", "Peter O'Neill", "José García", "Zoë Brandt", "Tom Müller-Lang")
_TEXT: Final = (
    "Dear {}, ",
    "I have noted {}. ",
    "It says **{}** here.\n",
    "- {}\n",
    "({}), ",
    "“{}” and ",
    "`{}` ",
    "{}? ",
    "a [link](http://x.example/a) to {}\n",
    "no value here, ",
    "> {}\n",
    "{}: yes. ",
)


def wrong_replies(count: int, seed: int) -> list[tuple[str, str, str]]:
    """Of ``count`` replies those that do not come back exactly: as they were written, as they came,
    and as they should have.
    """
    rng = random.Random(seed)
    wrong = []
    for number in range(count):
        redactor = _redactor(rng, number)
        written, meant = _reply(rng, [*redactor.entries])
        undone = _undone(rng, redactor, written)
        if undone != meant:
            wrong.append((written, undone, meant))
    return wrong


def _redactor(rng: random.Random, number: int) -> Redactor:
    redactor = Redactor(RedactionSettings(regions=("DE",)), rng.randbytes(32))
    said = [value.written for value in values(3, number)]
    people = rng.sample(_PEOPLE, 2)
    redactor.redacted(f"{', '.join(said)} of {' and '.join(people)}, a{number}@mail.example.de")
    return redactor


def _reply(rng: random.Random, entries: Sequence[Entry]) -> tuple[str, str]:
    written, meant = list[str](), list[str]()
    for _ in range(rng.randrange(2, 12)):
        sentence, entry = rng.choice(_TEXT), rng.choice(entries)
        spell = _spelling(rng, entry)
        written.append(sentence.format(spell(entry.surrogate)))
        meant.append(sentence.format(spell(entry.key if entry.kind in NUMBERS else entry.value)))
    return "".join(written), "".join(meant)


def _spelling(rng: random.Random, entry: Entry) -> Callable[[str], str]:
    """One way to write a surrogate and, in the same way, its value."""
    if entry.kind in NUMBERS:
        style, coded = rng.choice((0, 1, 2, 3, 5, 6)), rng.random() < 0.5
        # A number has one spelling of both where both have as many characters.
        before = entry.key.partition(" ")[0] + " " if entry.kind == "phone" and coded else ""
        return lambda key: before + spellings(number_of(entry.kind, key))[style]
    if entry.kind in ("given", "family"):
        return rng.choice((str, str.upper, lambda name: name + "'s", lambda name: name + "s"))
    return str


def _undone(rng: random.Random, redactor: Redactor, text: str) -> str:
    undo = Undo(redactor.surrogates, redactor.settings.regions)
    parts, at = list[str](), 0
    while at < len(text):
        size = rng.randrange(1, 9)
        parts.append(undo.push(text[at : at + size]))
        at += size
    return "".join([*parts, undo.finish()])
