"""The fields of a JSON object by name, with their types and bounds checked.

A field that is null counts as not given, as clients that fill in defaults send it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from split_server.compat.accepted.values import Accepted
from split_server.compat.json_body import fault, parsed_json
from split_server.compat.openai.errors import InvalidBody, InvalidParameter, UnsupportedParameter

_MAX_DEPTH = 64
# Of what a message shows of the name of a field.
_LONGEST_NAME = 64
# Commas and brackets, those within texts included: a body of megabytes must not become a hundred
# of small objects.
_MAX_MARKS = 1_000_000
_MARKS = (b",", b"[", b"{")


def parse_body(body: bytes) -> Fields:
    """The object in ``body``. Raises InvalidBody."""
    if sum(body.count(mark) for mark in _MARKS) > _MAX_MARKS:
        raise InvalidBody("the body holds too many values")
    try:
        value = parsed_json(body)
    # ValueError also covers bytes that are not UTF-8 and integers of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise InvalidBody(f"the body is not readable as JSON: {fault(error)}") from None
    if not isinstance(value, dict):
        raise InvalidBody("the body must be a JSON object")
    return Fields(value)


def clean(text: str) -> str:
    """``text`` without lone surrogates, which JSON can spell and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Fields:
    """``values`` found at ``at`` of the body; every getter raises InvalidParameter.

    Whoever parses a request asks at the end which fields nobody asked for: :meth:`unread`.
    """

    def __init__(self, values: Mapping[str, Any], at: str = "") -> None:
        self._values = values
        self._at = at
        self._read: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self.raw(name) is not None

    def replaced(self, values: Mapping[str, Any]) -> Fields:
        """With other values of some fields, which count as the ones that were sent."""
        made = Fields({**self._values, **values}, self._at)
        made._read = self._read
        return made

    def unread(self) -> dict[str, Any]:
        """What is given under names that nobody asked for."""
        return {
            name: value
            for name, value in self._values.items()
            if value is not None and name not in self._read
        }

    def names(self) -> frozenset[str]:
        """Of the fields that are given."""
        return frozenset(name for name, value in self._values.items() if value is not None)

    def path(self, name: str) -> str:
        """The path of ``name`` in messages, such as ``messages[0].role``."""
        return f"{self._at}.{name}" if self._at else name

    def raw(self, name: str) -> Any:
        """The value as it is, None when it was not given."""
        self._read.add(name)
        return self._values.get(name)

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean."""
        value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise InvalidParameter(self.path(name), "true or false")
        return value

    def whole(self, name: str, low: int, high: int) -> int | None:
        """A whole number in ``low..high``."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise InvalidParameter(self.path(name), f"a whole number in {low}..{high}")
        return value

    def number(self, name: str) -> float | None:
        """A finite number."""
        value = self.raw(name)
        return None if value is None else as_number(value, self.path(name))

    def text(self, name: str, longest: int | None = None) -> str | None:
        """A string of at most ``longest`` characters."""
        value = self.raw(name)
        return None if value is None else as_text(value, self.path(name), longest)

    def choice(self, name: str, allowed: Sequence[str]) -> str | None:
        """One of the strings ``allowed``."""
        value = self.raw(name)
        if value is not None and value not in allowed:
            raise InvalidParameter(self.path(name), "one of " + ", ".join(allowed))
        return None if value is None else str(value)

    def items(self, name: str, at_most: int) -> list[Any] | None:
        """A list of at most ``at_most`` values."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > at_most:
            raise InvalidParameter(self.path(name), f"a list of at most {at_most} values")
        return value

    def inner(self, name: str) -> Fields | None:
        """An object."""
        value = self.raw(name)
        return None if value is None else as_fields(value, self.path(name))

    def inners(self, name: str, at_most: int) -> list[Fields] | None:
        """A list of objects."""
        values = self.items(name, at_most)
        if values is None:
            return None
        path = self.path(name)
        return [as_fields(value, f"{path}[{index}]") for index, value in enumerate(values)]

    def document(self, name: str, longest: int) -> dict[str, Any] | None:
        """An object of any content, at most ``longest`` characters of JSON."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, dict) or not _is_shallow(value):
            raise InvalidParameter(self.path(name), f"an object, nested {_MAX_DEPTH} deep at most")
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > longest:
            raise InvalidParameter(self.path(name), f"at most {longest} characters long")
        cleaned: dict[str, Any] = json.loads(clean(text))
        return cleaned


def check_unread(fields: Fields, accepted: Accepted) -> None:
    """Refuse what nobody reads and what would change the reply: the last thing that is done with
    ``fields``. Raises UnsupportedParameter.
    """
    name = accepted.refused(fields.unread())
    if name is not None:
        path = fields.path(name[:_LONGEST_NAME])
        raise UnsupportedParameter(path, accepted.advice(name))


def as_fields(value: Any, path: str) -> Fields:
    """``value`` as an object. Raises InvalidParameter."""
    if not isinstance(value, dict):
        raise InvalidParameter(path, "an object")
    return Fields(value, path)


def as_text(value: Any, path: str, longest: int | None = None) -> str:
    """``value`` as a string. Raises InvalidParameter."""
    if not isinstance(value, str):
        raise InvalidParameter(path, "a string")
    if longest is not None and len(value) > longest:
        raise InvalidParameter(path, f"a string of at most {longest} characters")
    return clean(value)


def as_number(value: Any, path: str) -> float:
    """``value`` as a finite number. Raises InvalidParameter."""
    real = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        number = float(value) if real else math.nan
    except OverflowError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidParameter(path, "a finite number")
    return number


def _is_shallow(value: Any) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return True
    return False
