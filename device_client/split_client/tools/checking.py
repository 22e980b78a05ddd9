"""Whether the arguments of a call fit the schema of their tool.

What is checked: type, enum, const, properties, required, additionalProperties, items, prefixItems,
minItems, maxItems, minLength, maxLength, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
anyOf, oneOf, allOf, and references within the schema. Other keywords are left to the tool: a
pattern, for example, is a stranger's program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from split_client.grammar.schema import resolved

_MAX_STEPS: Final = 20_000
_MAX_REFERENCES: Final = 64
_SHOWN: Final = 60


class _Unfit(Exception):
    """``str()``: where, and what is wanted there."""


def misfit(arguments: object, schema: Mapping[str, Any]) -> str | None:
    """The first place where ``arguments`` do not fit ``schema``, in words; None where they do."""
    try:
        _Checker(schema).check(arguments, schema, "arguments", 0)
    except _Unfit as unfit:
        return str(unfit)
    except RecursionError:
        return "arguments: nested too deeply"
    return None


class _Checker:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = dict(root)
        self._steps = 0

    def check(self, value: Any, schema: Any, at: str, references: int) -> None:
        """Raises _Unfit."""
        self._steps += 1
        if self._steps > _MAX_STEPS or references > _MAX_REFERENCES:
            raise _Unfit(f"{at}: too much to check")
        if schema is False:
            raise _Unfit(f"{at}: nothing may stand here")
        if not isinstance(schema, Mapping):
            return
        if "$ref" in schema:
            self.check(value, resolved(self._root, schema["$ref"]), at, references + 1)
        _check_kind(value, schema, at)
        _check_bounds(value, schema, at)
        self._check_branches(value, schema, at, references)
        if isinstance(value, dict):
            self._check_object(value, schema, at)
        elif isinstance(value, list):
            self._check_array(value, schema, at)

    def _check_branches(
        self, value: Any, schema: Mapping[str, Any], at: str, references: int
    ) -> None:
        for rule in _list(schema.get("allOf")):
            self.check(value, rule, at, references + 1)
        for key in ("anyOf", "oneOf"):
            rules = _list(schema.get(key))
            fits = sum(self._fits(value, rule, at, references + 1) for rule in rules)
            if rules and (not fits or (key == "oneOf" and fits > 1)):
                raise _Unfit(f"{at}: {_shown(value)} fits {fits} of the forms that are possible")

    def _fits(self, value: Any, schema: Any, at: str, references: int) -> bool:
        try:
            self.check(value, schema, at, references)
        except _Unfit:
            return False
        return True

    def _check_object(self, value: dict[str, Any], schema: Mapping[str, Any], at: str) -> None:
        properties = schema.get("properties")
        rules = properties if isinstance(properties, Mapping) else {}
        for name in _list(schema.get("required")):
            if isinstance(name, str) and name not in value:
                raise _Unfit(f"{at}: {name!r} is missing")
        others = schema.get("additionalProperties", True)
        for name, inner in value.items():
            if name not in rules and others is False:
                known = ", ".join(map(str, rules)) or "none"
                raise _Unfit(f"{at}: there is no {name[:_SHOWN]!r}; known: {known[:300]}")
            self.check(inner, rules.get(name, others), f"{at}.{name[:_SHOWN]}", 0)

    def _check_array(self, value: list[Any], schema: Mapping[str, Any], at: str) -> None:
        first = _list(schema.get("prefixItems"))
        for index, inner in enumerate(value):
            rule = first[index] if index < len(first) else schema.get("items", True)
            self.check(inner, rule, f"{at}[{index}]", 0)


def _check_kind(value: Any, schema: Mapping[str, Any], at: str) -> None:
    kinds = schema.get("type")
    wanted = [kinds] if isinstance(kinds, str) else [k for k in _list(kinds) if isinstance(k, str)]
    if wanted and not any(_KINDS.get(kind, _anything)(value) for kind in wanted):
        raise _Unfit(f"{at}: {_shown(value)} is not of type {' or '.join(wanted)}")
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(_same(value, choice) for choice in choices):
        allowed = ", ".join(_shown(choice) for choice in choices[:20])
        raise _Unfit(f"{at}: {_shown(value)} is none of {allowed}")
    if "const" in schema and not _same(value, schema["const"]):
        raise _Unfit(f"{at}: {_shown(value)} is not {_shown(schema['const'])}")


def _check_bounds(value: Any, schema: Mapping[str, Any], at: str) -> None:
    size = len(value) if isinstance(value, str | list) else None
    keys = ("minLength", "maxLength") if isinstance(value, str) else ("minItems", "maxItems")
    if size is not None and not _within(size, schema.get(keys[0]), schema.get(keys[1])):
        raise _Unfit(f"{at}: its length is {size}, outside of what is allowed")
    if not _is_number(value):
        return
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    inside = _within(value, schema.get("minimum"), schema.get("maximum"))
    strictly = not (_is_number(above) and value <= above) and not (
        _is_number(below) and value >= below
    )
    if not inside or not strictly:
        raise _Unfit(f"{at}: {_shown(value)} is outside of what is allowed")


def _within(value: float, least: Any, most: Any) -> bool:
    return not (_is_number(least) and value < least) and not (_is_number(most) and value > most)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _anything(_: Any) -> bool:
    return True


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_whole,
    # Whole numbers may be beyond what a float holds.
    "number": lambda value: _is_whole(value) or (_is_number(value) and math.isfinite(value)),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
