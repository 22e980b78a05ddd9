"""Objects of a schema closed where they name their properties and say nothing of further ones.

JSON Schema leaves such objects open, and a model that may write any name ends up with one that
nobody asked for. Where several schemas are joined, each of them knows only a part of the names, so
that nothing is closed there.
"""

from __future__ import annotations

from typing import Any, Final

_ONE: Final = ("items", "additionalProperties")
_LISTED: Final = ("prefixItems", "anyOf", "oneOf")
_NAMED: Final = ("properties", "patternProperties", "$defs", "definitions")
# Beside these an object's properties are not all of its names.
_OPEN: Final = ("additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf", "$ref")
_ALTERNATIVES: Final = ("anyOf", "oneOf")


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy of ``schema``."""
    if _joins(schema):
        # A definition may be one of those that are joined.
        return dict(schema)
    made: dict[str, Any] = _closed(schema, True)
    return made


def closes(node: dict[str, Any]) -> bool:
    """Whether the properties of ``node`` are all that an object of it can have."""
    named = node.get("properties") or {}
    required = node.get("required") or ()
    return not any(name in node for name in _OPEN) and all(name in named for name in required)


def _closed(node: Any, alone: bool) -> Any:
    """``alone``: no other schema speaks of the same object."""
    if not isinstance(node, dict):
        return node
    made = dict(node)
    apart = alone and "properties" not in node
    for name in _ONE:
        if name in node:
            made[name] = _closed(node[name], True)
    for name in _LISTED:
        if isinstance(node.get(name), list):
            own = apart if name in _ALTERNATIVES else True
            made[name] = [_closed(part, own) for part in node[name]]
    for name in _NAMED:
        if isinstance(node.get(name), dict):
            made[name] = {key: _closed(part, True) for key, part in node[name].items()}
    if alone and isinstance(node.get("properties"), dict) and closes(node):
        made["additionalProperties"] = False
    return made


def _joins(node: Any) -> bool:
    """Whether several schemas are joined somewhere, by ``allOf`` or beside a reference."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            several = isinstance(value.get("allOf"), list) and len(value["allOf"]) > 1
            if several or ("$ref" in value and "properties" in value):
                return True
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return False
