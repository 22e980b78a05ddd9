"""Values and schemas of three kinds: a record list, a tool call, a nested document."""

from __future__ import annotations

from random import Random
from typing import Any

Schema = dict[str, Any]
_NAMES = ("Ada", "Grace", "Alan", "Edsger", "Barbara", "Donald", "Frances", "Niklaus")
_TOWNS = ("Bern", "Lisbon", "Oslo", "Graz", "Turin", "Ghent", "Porto", "Basel")
_WORDS = (
    "the", "red", "house", "near", "a", "small", "river", "where", "old", "trees", "grow", "and",
    "birds", "sing", "in", "spring",
)  # fmt: skip


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
RECORD = _object(name=_TEXT, age=_WHOLE, town=_TEXT, active={"type": "boolean"})
KINDS: dict[str, Schema] = {
    "record list": {"type": "array", "items": RECORD},
    "tool call": _object(
        name={"const": "search_flights"},
        arguments=_object(origin=_TEXT, destination=_TEXT, passengers=_WHOLE, flexible=RECORD),
    ),
    "nested document": _object(
        title=_TEXT,
        sections={"type": "array", "items": _object(heading=_TEXT, words=_WHOLE, text=_TEXT)},
        author=_object(name=_TEXT, town=_TEXT),
    ),
}


def value_of(kind: str, seed: int) -> Any:
    """One value of a kind; the same for the same seed."""
    random = Random(seed)
    if kind == "record list":
        return [_record(random) for _ in range(random.randint(3, 8))]
    if kind == "tool call":
        return {
            "name": "search_flights",
            "arguments": {
                "origin": random.choice(_TOWNS),
                "destination": random.choice(_TOWNS),
                "passengers": random.randint(1, 9),
                "flexible": _record(random),
            },
        }
    sections = [
        {"heading": _words(random, 3), "words": random.randint(10, 900), "text": _words(random, 18)}
        for _ in range(random.randint(1, 4))
    ]
    author = {"name": random.choice(_NAMES), "town": random.choice(_TOWNS)}
    return {"title": _words(random, 4), "sections": sections, "author": author}


def _record(random: Random) -> dict[str, Any]:
    return {
        "name": random.choice(_NAMES),
        "age": random.randint(18, 90),
        "town": random.choice(_TOWNS),
        "active": random.random() < 0.5,
    }


def _words(random: Random, count: int) -> str:
    return " ".join(random.choice(_WORDS) for _ in range(count))
