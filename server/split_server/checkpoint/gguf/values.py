"""The metadata of a GGUF file: typed values by key.

The format (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), versions 2 and 3, little
endian. Arrays stay in the file until somebody asks for one.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from split_server.checkpoint.gguf.source import Cursor, Source
from split_server.errors import MalformedCheckpoint

U32, U64 = struct.Struct("<I"), struct.Struct("<Q")
_STRING, _ARRAY, _BOOL = 8, 9, 7
_SCALARS = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: U32,
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    _BOOL: struct.Struct("<B"),
    10: U64,
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
_MAX_KEYS = 4096
_MAX_KEY_BYTES = 1024
# The longest known are chat templates of some tens of kilobytes.
_MAX_STRING_BYTES = 4 << 20
# Vocabularies have at most some 260,000 pieces and twice as many merges.
_MAX_ITEMS = 1 << 20
_MAX_STRINGS = 1 << 21


@dataclass(frozen=True, slots=True)
class Array:
    """``count`` values of one type, which begin at ``offset``."""

    kind: int
    count: int
    offset: int


class Metadata:
    """What a file says of itself. Raises MalformedCheckpoint for what has another type."""

    def __init__(self, source: Source, values: Mapping[str, Any]) -> None:
        self._source, self._values = source, values

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def text(self, key: str, default: str | None = None) -> str:
        """A string."""
        return str(self._typed(key, str, "text", default))

    def integer(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        """A whole number, of any of the integer types."""
        if default is not None and key not in self:
            return default
        value: int = self._typed(key, int, "a whole number", None)
        if isinstance(value, bool) or value < least:
            raise self._wrong(key, f"a whole number from {least}")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        value = self._typed(key, (int, float), "a number", default)
        if isinstance(value, bool) or not math.isfinite(value):
            raise self._wrong(key, "a finite number")
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        return bool(self._typed(key, bool, "true or false", default))

    def texts(self, key: str) -> list[str]:
        """A list of strings."""
        array = self._array(key, (_STRING,))
        cursor = Cursor(self._source)
        cursor.skip(array.offset)
        return [read_text(cursor, _MAX_STRING_BYTES) for _ in range(array.count)]

    def numbers(self, key: str) -> list[Any]:
        """A list of numbers or flags."""
        array = self._array(key, tuple(_SCALARS))
        form = _SCALARS[array.kind]
        data = self._source.read(array.offset, form.size * array.count)
        return [value for (value,) in form.iter_unpack(data)]

    def _array(self, key: str, kinds: tuple[int, ...]) -> Array:
        value = self._typed(key, Array, "a list", None)
        if value.count and value.kind not in kinds:
            raise self._wrong(key, "a list of the right type")
        if value.count > _MAX_ITEMS:
            raise self._wrong(key, f"a list of at most {_MAX_ITEMS:,} values")
        return value  # type: ignore[no-any-return]

    def _typed(self, key: str, kind: Any, words: str, default: Any) -> Any:
        value = self._values.get(key, default)
        if value is None:
            raise MalformedCheckpoint(f"{self._source.name} does not say {key}")
        if not isinstance(value, kind):
            raise self._wrong(key, words)
        return value

    def _wrong(self, key: str, words: str) -> MalformedCheckpoint:
        return MalformedCheckpoint(f"{self._source.name}: {key} is not {words}")


def read_metadata(cursor: Cursor, source: Source, count: int) -> Metadata:
    """The next ``count`` keys with their values. Raises MalformedCheckpoint."""
    if count > _MAX_KEYS:
        raise MalformedCheckpoint(
            f"{source.name} has {count:,} keys; at most {_MAX_KEYS:,} are read"
        )
    values: dict[str, Any] = {}
    strings = 0
    for _ in range(count):
        key = read_text(cursor, _MAX_KEY_BYTES)
        if key in values:
            raise MalformedCheckpoint(f"{source.name} has the key {key} twice")
        value = _value(cursor, source, cursor.unpack(U32), _MAX_STRINGS - strings)
        if isinstance(value, Array) and value.kind == _STRING:
            strings += value.count
        values[key] = value
    return Metadata(source, values)


def _value(cursor: Cursor, source: Source, kind: int, strings_left: int) -> Any:
    if kind in _SCALARS:
        value = cursor.unpack(_SCALARS[kind])
        return bool(value) if kind == _BOOL else value
    if kind == _STRING:
        return read_text(cursor, _MAX_STRING_BYTES)
    if kind == _ARRAY:
        return _skipped_array(cursor, source, strings_left)
    raise MalformedCheckpoint(f"{source.name} has a value of the unknown type {kind}")


def _skipped_array(cursor: Cursor, source: Source, strings_left: int) -> Array:
    kind, count = cursor.unpack(U32), cursor.unpack(U64)
    array = Array(kind, count, cursor.offset)
    if kind in _SCALARS:
        cursor.skip(_SCALARS[kind].size * count)
    elif kind == _STRING:
        if count > strings_left:
            raise MalformedCheckpoint(f"{source.name} has more than {_MAX_STRINGS:,} strings")
        for _ in range(count):
            cursor.skip(cursor.unpack(U64))
    else:
        raise MalformedCheckpoint(f"{source.name} has a list of lists or of an unknown type")
    return array


def read_text(cursor: Cursor, most: int) -> str:
    """A string of at most ``most`` bytes of UTF-8. Raises MalformedCheckpoint."""
    length = cursor.unpack(U64)
    if length > most:
        raise MalformedCheckpoint(f"a text of {length:,} bytes; at most {most:,} are read")
    try:
        return cursor.take(length).decode()
    except UnicodeDecodeError as error:
        raise MalformedCheckpoint("a text is not UTF-8") from error
