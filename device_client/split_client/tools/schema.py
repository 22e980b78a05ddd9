"""The JSON schema of a call, from the schemas of the tools' arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from split_client.tools.closed import closed, closes

Schema = dict[str, Any]
# Of a tool whose own schema cannot be enforced.
ANY_OBJECT: Schema = {"type": "object", "additionalProperties": True}


def call_schema(
    tools: Mapping[str, Schema | None], keys: tuple[str, str] = ("name", "arguments"), at: str = "#"
) -> Schema:
    """That of a call of one of ``tools`` (name to the schema of its arguments, None: it has none).

    Arguments are an object, and objects that do not allow more are closed. ``keys``: of name and
    arguments; ``at``: where in a document the schema will stand.
    """
    if len(tools) == 1:
        [(name, schema)] = tools.items()
        return _one(name, schema, keys, at)
    return {
        "anyOf": [
            _one(name, schema, keys, f"{at}/anyOf/{index}")
            for index, (name, schema) in enumerate(tools.items())
        ]
    }


def arguments_schema(parameters: Schema | None) -> Schema:
    """The schema of a tool's arguments, an object whatever ``parameters`` leave open."""
    own = closed(parameters or {})
    kinds = own.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        return own
    own["type"] = "object"
    if closes(own):
        own.setdefault("properties", {})
        own["additionalProperties"] = False
    return own


def _one(name: str, parameters: Schema | None, keys: tuple[str, str], at: str) -> Schema:
    # Both belong to the root of a document, where references begin.
    own = {
        key: value
        for key, value in arguments_schema(parameters).items()
        if key not in ("$id", "$schema")
    }
    moved = _moved(own, f"{at}/properties/{keys[1]}")
    return {
        "type": "object",
        "properties": {keys[0]: {"const": name}, keys[1]: moved},
        "required": list(keys),
        "additionalProperties": False,
    }


def _moved(schema: Any, at: str) -> Any:
    """``schema`` with its references to itself, now that its root is ``at`` of another one."""
    if isinstance(schema, list):
        return [_moved(item, at) for item in schema]
    if not isinstance(schema, dict):
        return schema
    moved = {key: _moved(value, at) for key, value in schema.items()}
    reference = moved.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        moved["$ref"] = at + reference[1:]
    return moved
