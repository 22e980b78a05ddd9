"""What the scripted model is asked for and writes; fixed before any draft was tried on it."""

from __future__ import annotations

import json
import random
from typing import Any

from scripts.real.texts.passages import PASSAGES

_SEED = 20
_FIELDS = (
    "name",
    "street",
    "city",
    "postcode",
    "country",
    "birthday",
    "profession",
    "employer",
    "email",
    "telephone",
    "language",
    "currency",
    "timezone",
    "nickname",
    "website",
    "department",
    "manager",
    "salary",
)
_NAMES = ("Ada", "Bela", "Carlos", "Dunja", "Emre", "Fatima", "Goran", "Hana", "Ines", "Jonas")
_PLACES = ("Bergen", "Porto", "Graz", "Lyon", "Turku", "Split", "Cork", "Ghent", "Brno", "Malaga")


def source() -> str:
    """A text of some 700 words to be copied with edits."""
    return "\n\n".join(PASSAGES)


def getters() -> str:
    """Code after a template: a class with a getter and a setter for each of its fields."""
    made = (
        f"    def get_{name}(self):\n        return self._{name}\n\n"
        f"    def set_{name}(self, value):\n        if value is None:\n"
        f'            raise ValueError("{name} is missing")\n'
        f"        self._{name} = value\n"
        for name in _FIELDS
    )
    return "\n".join(("class Person:", *made))


def records(count: int = 12) -> list[dict[str, Any]]:
    """People of a list, every value drawn."""
    chance = random.Random(_SEED)
    return [
        {
            "name": chance.choice(_NAMES),
            "age": chance.randint(18, 90),
            "city": chance.choice(_PLACES),
            "member": chance.random() < 0.5,
            "score": round(chance.uniform(0, 10), 1),
        }
        for _ in range(count)
    ]


RECORDS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "people": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "maxLength": 30},
                    "age": {"type": "integer", "minimum": 0, "maximum": 150},
                    "city": {"type": "string", "maxLength": 30},
                    "member": {"type": "boolean"},
                    "score": {"type": "number"},
                },
                "required": ["name", "age", "city", "member", "score"],
                "additionalProperties": False,
            },
            "maxItems": 20,
        }
    },
    "required": ["people"],
    "additionalProperties": False,
}

CALL: dict[str, Any] = {
    "name": "book_train_journey",
    "arguments": {
        "departure_station": "Graz",
        "arrival_station": "Lyon",
        "departure_date": "2026-11-24",
        "number_of_passengers": 2,
        "travel_class": "second",
        "seat_reservation": True,
    },
}
CALL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"const": "book_train_journey"},
        "arguments": {
            "type": "object",
            "properties": {
                "departure_station": {"type": "string", "maxLength": 40},
                "arrival_station": {"type": "string", "maxLength": 40},
                "departure_date": {"type": "string", "maxLength": 10},
                "number_of_passengers": {"type": "integer", "minimum": 1, "maximum": 9},
                "travel_class": {"enum": ["first", "second"]},
                "seat_reservation": {"type": "boolean"},
            },
            "required": list(CALL["arguments"]),
            "additionalProperties": False,
        },
    },
    "required": ["name", "arguments"],
    "additionalProperties": False,
}


def edited(ids: list[int], vocabulary: int, every: int = 40) -> list[int]:
    """``ids`` with 3 to 8 others in place of as many after every ``every`` of them."""
    chance, made, at = random.Random(_SEED), list[int](), 0
    while at < len(ids):
        made += ids[at : at + every]
        change = chance.randint(3, 8)
        made += [chance.randrange(300, vocabulary) for _ in range(change)]
        at += every + change
    return made


def new_prose(count: int, vocabulary: int) -> list[int]:
    """``count`` ids without a repeated 4-gram."""
    chance, made, seen = random.Random(_SEED), list[int](), set[tuple[int, ...]]()
    while len(made) < count:
        made.append(chance.randrange(300, vocabulary))
        gram = tuple(made[-4:])
        if gram in seen:
            made.pop()
        seen.add(gram)
    return made


def as_json(value: Any, separators: tuple[str, str]) -> str:
    """``value`` as the endpoints' forms write it."""
    return json.dumps(value, separators=separators)
