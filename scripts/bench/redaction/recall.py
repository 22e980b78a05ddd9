"""Names that are found, of a list that is not the one that ships."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

from split_client.redaction.redactor import Redactor
from split_client.redaction.settings import RedactionSettings

LOCALES: Final = ("en", "de", "fr", "es", "it", "nl", "pl", "sv", "pt", "da", "cs", "tr")
_WORD: Final = re.compile("[A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ]{2,}(?:['-][A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ]+)*")
# What a name stands in; {g}: first name, {f}: surname.
SENTENCES: Final = {
    "first name and surname, English": "Yesterday {g} {f} sent us the signed contract.",
    "first name and surname, German": "Gestern hat {g} {f} den Vertrag an die Bank geschickt.",
    "surname, first name": "Participants: {f}, {g} and two more.",
    "first name alone": "We asked {g} about it and got no answer.",
    "title and surname": "Please forward this to Dr. {f} before noon.",
    "surname alone": "We asked {f} about it and got no answer.",
}


def held_out(locale: str) -> tuple[list[str], list[str]]:
    """First names and surnames of Mimesis (MIT) in Latin letters."""
    path = resources.files("mimesis").joinpath(f"datasets/{locale}/person.json")
    person = json.loads(path.read_text("utf-8"))
    return [*_names(person["names"])], [*_names(person["surnames"])]


def _names(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        if _WORD.fullmatch(given):
            yield given
    else:
        for each in given.values() if isinstance(given, dict) else given:
            yield from _names(each)


def recall(count: int, seed: int) -> dict[str, dict[str, float]]:
    """Share of the names' words that do not go out, by sentence and locale; "all" of each."""
    found: dict[str, dict[str, float]] = {}
    for name, sentence in SENTENCES.items():
        shares = {locale: _share(locale, sentence, count, seed) for locale in LOCALES}
        found[name] = {**shares, "all": sum(shares.values()) / len(shares)}
    return found


def _share(locale: str, sentence: str, count: int, seed: int) -> float:
    rng = random.Random(f"{seed} {locale} {sentence}")
    given, family = held_out(locale)
    gone = total = 0
    for _ in range(count):
        words = {"g": rng.choice(given), "f": rng.choice(family)}
        sent = Redactor(RedactionSettings()).redacted(sentence.format(**words))
        for key, word in words.items():
            if f"{{{key}}}" in sentence:
                total += 1
                gone += re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sent) is None
    return gone / total


def mistaken(folder: Path) -> tuple[int, int]:
    """Words of the pages in ``folder`` that are taken for names, and words in all: they name nobody
    but a few scientists.
    """
    words = taken = 0
    for path in sorted(folder.glob("*.md")):
        redactor = Redactor(RedactionSettings(frozenset({"names"})))
        text = path.read_text("utf-8")
        words += len(_WORD.findall(text))
        taken += len(redactor.preview(text)[1])
    return taken, words
