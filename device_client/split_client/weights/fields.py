"""Typed reading of distrusted JSON; every failure is a ManifestInvalid that names the field."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from split_client.errors import ManifestInvalid

_SHA256 = re.compile(r"[0-9a-f]{64}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\.[A-Za-z0-9_-]{1,16}){0,3}")
MAX_TEXT = 200


class Reader:
    """A reader over one JSON object. ``where`` names it in errors; unknown keys are never read."""

    def __init__(self, values: object, where: str = "") -> None:
        if not isinstance(values, dict):
            raise ManifestInvalid(f"{where or 'it'} is not a JSON object")
        self._values: Mapping[str, Any] = values
        self._where = f"{where}." if where else ""

    def inner(self, name: str) -> Reader:
        """The object under ``name``."""
        return Reader(self._values.get(name), self._where + name)

    def has(self, name: str) -> bool:
        """Whether ``name`` is there and not null."""
        return self._values.get(name) is not None

    def items(self, name: str, limit: int) -> list[Any]:
        """The array under ``name``."""
        value = self._values.get(name)
        if not isinstance(value, list) or len(value) > limit:
            raise self._wrong(name, f"an array of at most {limit}")
        return value

    def texts(self, name: str, limit: int) -> dict[str, str]:
        """An object of short texts; null values are left out."""
        value = self._values.get(name, {})
        if not isinstance(value, dict) or len(value) > limit:
            raise self._wrong(name, f"an object of at most {limit} entries")
        kept = {key: text for key, text in value.items() if text is not None}
        if not all(isinstance(t, str) and len(t) <= MAX_TEXT for t in [*kept, *kept.values()]):
            raise self._wrong(name, "an object of short texts")
        return kept

    def text(self, name: str, limit: int = MAX_TEXT) -> str:
        value = self._values.get(name)
        if not isinstance(value, str) or not 0 < len(value) <= limit:
            raise self._wrong(name, f"text of 1 to {limit} characters")
        return value

    def count(self, name: str, low: int, high: int) -> int:
        value = self._values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._wrong(name, f"a whole number from {low} to {high}")
        return value

    def number(self, name: str) -> float:
        value = self._values.get(name)
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise self._wrong(name, "a number")
        if not math.isfinite(value) or abs(value) > 1e9:
            raise self._wrong(name, "a finite number")
        return float(value)

    def optional_number(self, name: str) -> float | None:
        return self.number(name) if self.has(name) else None

    def choice(self, name: str, allowed: tuple[str, ...]) -> str:
        value = self._values.get(name)
        if value not in allowed:
            raise self._wrong(name, f"one of {', '.join(allowed)}")
        return str(value)

    def sha256(self, name: str) -> str:
        value = self._values.get(name)
        if not is_sha256(value):
            raise self._wrong(name, "a SHA-256 in hexadecimal")
        return str(value)

    def file_name(self, name: str) -> str:
        """A plain name: no folder, no leading dot, nothing that a file system reads specially."""
        value = self._values.get(name)
        if not isinstance(value, str) or not _FILE_NAME.fullmatch(value):
            raise self._wrong(name, "a plain file name")
        return value

    def _wrong(self, name: str, wanted: str) -> ManifestInvalid:
        return ManifestInvalid(f"{self._where}{name} is not {wanted}")


def is_sha256(value: object) -> bool:
    """Whether ``value`` is a SHA-256 in lower-case hexadecimal."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None
