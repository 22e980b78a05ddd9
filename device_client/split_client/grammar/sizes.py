"""Bounds on how much one token can lengthen what a JSON text of a schema still needs, in bytes.

Upper bounds, read off the schema: every keyword that can demand text is counted, and where the
schema leaves a choice, ``needed`` takes the cheapest branch and ``committed`` the dearest.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

from split_client.grammar.keywords import ITEM_SEPARATOR, KEY_SEPARATOR
from split_client.grammar.schema import nodes, resolved

_NUMBER: Final = 24
_ITEM: Final = len(ITEM_SEPARATOR)
_KEY: Final = len(KEY_SEPARATOR)
_FORMAT: Final = 64
_MOST: Final = 2**31
_MAX_VISITS: Final = 100_000


class _TooEntangled(Exception):
    """The schema's references take too long to follow."""


@dataclass(frozen=True, slots=True)
class Jumps:
    """``leaf``: within a string, number or literal; ``any``: any single token, brackets included.

    Tokens that open more than two arrays or objects at once are outside these bounds.
    """

    leaf: int
    any: int


def jumps_of(schema: dict[str, Any]) -> Jumps:
    """The bounds for texts of ``schema``; ``any`` is huge where references are too entangled."""
    sizes = _Sizes(schema)
    every = list(nodes(schema))
    leaf = max(_leaf(node) for node in every)
    try:
        committed = max(sizes.committed(node) for node in every)
    except (_TooEntangled, RecursionError):
        committed = _MOST
    return Jumps(leaf, 2 * committed + leaf)


def endless(schema: dict[str, Any]) -> bool:
    """Whether every value of ``schema`` contains another one of it, as far as that can be told."""
    try:
        return _Sizes(schema, math.inf).needed(schema) == math.inf
    except (_TooEntangled, RecursionError, OverflowError):
        return False


class _Sizes:
    def __init__(self, root: dict[str, Any], most: float = _MOST) -> None:
        self._root = root
        self._most = most
        self._known: dict[int, float] = {}
        self._open: set[int] = set()
        self._visits = 0

    def needed(self, schema: Any) -> float:
        """Bytes of the shortest value; infinite only for what contains itself without end."""
        if not isinstance(schema, dict) or not schema:
            return 2
        key = id(schema)
        if key in self._known:
            return self._known[key]
        if key in self._open:
            return math.inf
        self._visits += 1
        if self._visits > _MAX_VISITS:
            raise _TooEntangled
        self._open.add(key)
        size = min(self._parts(schema), self._most)
        self._open.discard(key)
        if size < self._most:
            self._known[key] = size
        return size

    def committed(self, node: dict[str, Any]) -> int:
        """Bytes that a value of ``node`` may still need once its dearest branch has begun."""
        optional = [self._property(node, key) for key in _mapping(node, "properties")]
        optional.append(6 + _ITEM + _KEY + self.needed(node.get("additionalProperties")))
        optional += [_NUMBER + self.needed(s) for s in _mapping(node, "patternProperties").values()]
        items = [node.get("items"), *_sequence(node, "prefixItems")]
        item = max(_finite(self.needed(schema)) for schema in items)
        whole = _finite(self._object(node)) + _finite(self._array(node)) + _leaf(node)
        return int(whole + item + max(_finite(size) for size in optional))

    def _parts(self, schema: dict[str, Any]) -> float:
        size = self._object(schema) + self._array(schema) + _leaf(schema)
        for name in ("anyOf", "oneOf"):
            branches = _sequence(schema, name)
            size += min((self.needed(branch) for branch in branches), default=0)
        size += sum(self.needed(part) for part in _sequence(schema, "allOf"))
        if "$ref" in schema:
            size += self.needed(resolved(self._root, schema["$ref"]))
        return size

    def _object(self, schema: dict[str, Any]) -> float:
        required = [key for key in _sequence(schema, "required") if isinstance(key, str)]
        more = max(0, _whole(schema, "minProperties") - len(required))
        extra = more * (_NUMBER + self.needed(schema.get("additionalProperties")) if more else 0)
        return 2 + sum(self._property(schema, key) for key in required) + extra

    def _property(self, schema: dict[str, Any], key: str) -> float:
        value = _mapping(schema, "properties").get(key, schema.get("additionalProperties"))
        return len(json.dumps(key)) + _ITEM + _KEY + self.needed(value)

    def _array(self, schema: dict[str, Any]) -> float:
        least, first = _whole(schema, "minItems"), _sequence(schema, "prefixItems")
        size = 2 + sum(_ITEM + self.needed(item) for item in first[:least])
        rest = max(0, least - len(first))
        return size + (rest * (_ITEM + self.needed(schema.get("items"))) if rest else 0)


def _leaf(schema: dict[str, Any]) -> int:
    """Bytes that a string, number, literal or key of ``schema`` itself may need, at most."""
    values = [*_sequence(schema, "enum"), *([schema["const"]] if "const" in schema else [])]
    literal = max((len(json.dumps(value)) for value in values), default=0)
    keys = max((len(json.dumps(key)) for key in _mapping(schema, "properties")), default=0)
    bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    number = max(len(json.dumps(schema[name])) if name in schema else 0 for name in bounds)
    patterns = [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
    patterns += [key for key in _mapping(schema, "patternProperties") if isinstance(key, str)]
    text = _whole(schema, "minLength") + sum(map(_pattern, patterns))
    return max(literal, keys) + number + text + (_FORMAT if "format" in schema else 0) + _NUMBER


def _pattern(pattern: str) -> int:
    """Its length times its largest repeat is more than any text that it can demand."""
    repeats = [int(found[:6]) for found in re.findall(r"\{(\d+)", pattern)]
    return len(pattern) * max(1, math.prod(repeats)) if repeats else len(pattern)


def _mapping(schema: dict[str, Any], name: str) -> dict[str, Any]:
    value = schema.get(name)
    return value if isinstance(value, dict) else {}


def _sequence(schema: dict[str, Any], name: str) -> list[Any]:
    value = schema.get(name)
    return value if isinstance(value, list) else []


def _whole(schema: dict[str, Any], name: str) -> int:
    value = schema.get(name)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return min(max(value, 0), _MOST) if whole else 0  # type: ignore[type-var, return-value]


def _finite(size: float) -> float:
    return min(size, _MOST) if size < math.inf else 0
