"""Schemas of replies, each with the request that goes before a passage."""

from __future__ import annotations

from typing import Any

_TEXT: dict[str, Any] = {"type": "string", "maxLength": 60}


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS: dict[str, tuple[str, dict[str, Any]]] = {
    "tool call": (
        "Call the tool that saves a note about this text.",
        _object(
            type={"const": "function"},
            function=_object(
                name={"const": "save_note"},
                arguments=_object(
                    notebook={"enum": ["places", "science", "cooking", "business"]},
                    important={"type": "boolean"},
                    number_of_sentences={"type": "integer", "minimum": 1, "maximum": 9},
                ),
            ),
        ),
    ),
    "extraction": (
        "Extract the facts of this text as JSON.",
        _object(
            main_subject=_TEXT,
            location_or_place=_TEXT,
            year_or_number={"type": "integer", "minimum": 0, "maximum": 9999},
            has_people={"type": "boolean"},
        ),
    ),
    "list of records": (
        "List three things of this text as JSON records.",
        {
            "type": "array",
            "minItems": 3,
            "maxItems": 3,
            "items": _object(name=_TEXT, kind=_TEXT),
        },
    ),
    "person": (
        "Invent a person who fits this text, as JSON.",
        _object(
            name=_TEXT,
            age={"type": "integer", "minimum": 1, "maximum": 99},
            city=_TEXT,
            about={"type": "string", "maxLength": 200},
        ),
    ),
    "text": (
        "Summarise this text as JSON.",
        _object(summary={"type": "string", "maxLength": 300}),
    ),
}
