"""Typed reading of a message's fields; every failure is a MalformedMessage that names the field.

An optional field that is nil counts as missing: some encoders write their absent values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from split_wire.errors import MalformedMessage

MAX_TEXT = 200
_CODE = re.compile(r"[a-z0-9_]{1,64}")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
MAX_STEP = 2**53 - 1  # the largest integer a JavaScript number holds exactly


def is_name(value: object) -> bool:
    """Whether ``value`` is 1 to 64 letters, digits and ``._-``, the first of them no dot."""
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


class Fields:
    """A reader over one message's map. Unknown keys are never looked at."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def text(self, name: str) -> str:
        value = self._values.get(name)
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            raise MalformedMessage(f"{name!r} must be text of at most {MAX_TEXT} characters")
        return value

    def code(self, name: str) -> str:
        """A word of small letters, digits and underscores."""
        value = self._values.get(name)
        if not isinstance(value, str) or not _CODE.fullmatch(value):
            raise MalformedMessage(f"{name!r} must be a word of letters, digits and '_'")
        return value

    def optional_name(self, name: str) -> str | None:
        """What a person called a machine: see :func:`is_name`."""
        value = self._values.get(name)
        if value is not None and not is_name(value):
            raise MalformedMessage(f"{name!r} must be 1 to 64 letters, digits and '._-'")
        return value

    def missing(self, name: str) -> bool:
        return self._values.get(name) is None

    def optional_text(self, name: str) -> str | None:
        return None if self._values.get(name) is None else self.text(name)

    def count(self, name: str, limit: int = MAX_STEP) -> int:
        value = self._values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= limit:
            raise MalformedMessage(f"{name!r} must be a whole number from 0 to {limit}")
        return value

    def optional_count(self, name: str, limit: int = MAX_STEP, missing: int = 0) -> int:
        """``missing`` when the field is."""
        return missing if self._values.get(name) is None else self.count(name, limit)

    def flag(self, name: str, default: bool) -> bool:
        value = self._values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise MalformedMessage(f"{name!r} must be true or false")
        return value

    def digest(self, name: str, size: int) -> bytes:
        value = self._values.get(name)
        if not isinstance(value, bytes) or len(value) != size:
            raise MalformedMessage(f"{name!r} must be {size} bytes")
        return value

    def bytes_of_pairs(self, name: str, size: int, most: int) -> bytes:
        """At most so many items of ``size`` bytes, one after the other."""
        value = self._values.get(name)
        if not isinstance(value, bytes) or len(value) % size or len(value) > most * size:
            raise MalformedMessage(f"{name!r} must be at most {most} times {size} bytes")
        return value

    def optional_digest(self, name: str, size: int) -> bytes:
        """Empty when the field is missing."""
        return b"" if self._values.get(name) is None else self.digest(name, size)

    def printable(self, name: str, limit: int) -> str:
        """At most ``limit`` characters for a person to read, "" when the field is missing.

        Characters that a terminal would act on become spaces.
        """
        value = self._values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise MalformedMessage(f"{name!r} must be text")
        return "".join(c if c.isprintable() else " " for c in value[:limit])

    def texts(self, name: str, limit: int = 64) -> tuple[str, ...]:
        value = self._values.get(name)
        if value is None:
            return ()
        fits = isinstance(value, list) and len(value) <= limit
        if not fits or not all(isinstance(item, str) and len(item) <= MAX_TEXT for item in value):
            raise MalformedMessage(f"{name!r} must be a list of at most {limit} short texts")
        return tuple(value)

    def optional_seconds(self, name: str) -> float | None:
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1e9:
            raise MalformedMessage(f"{name!r} must be a number of seconds")
        return float(value)
