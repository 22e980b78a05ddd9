"""The fields of a request by any of their spellings, each of one type and within bounds."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from split_server.compat.json_body import fault, parsed_json
from split_server.compat.kobold.errors import InvalidParameter, InvalidRequest, InvalidToken
from split_wire.errors import FrameTooLarge

_Name = TypeVar("_Name", bound=str)
# Commas and brackets of a request besides those between the token ids of a context: far too long a
# prompt is told so, and a body of a megabyte does not become a hundred of small objects.
_OTHER_MARKS = 200_000
_MARKS = (b",", b"[", b"{")
# input_ids, stop_tokens and banned_tokens may each name every token of a context.
_LISTS = 3
_LARGEST_FLOAT = sys.float_info.max


def json_object(data: bytes, limit: int, max_context: int) -> dict[str, Any]:
    """The JSON object in ``data``, whatever its content type says.

    At most ``limit`` bytes with as many values as a model of ``max_context`` needs.
    Raises FrameTooLarge, InvalidRequest.
    """
    if len(data) > limit:
        raise FrameTooLarge(len(data), limit)
    if sum(data.count(mark) for mark in _MARKS) > _OTHER_MARKS + _LISTS * max_context:
        raise InvalidRequest("the JSON holds too many values")
    try:
        value = parsed_json(data)
    # ValueError also covers bytes that are not UTF-8 and integers of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"the request is not readable as JSON: {fault(error)}") from error
    if not isinstance(value, dict):
        raise InvalidRequest("the JSON must be an object")
    return value


class Fields:
    """Fields of one request. Null counts as left out.

    Each method takes the spellings of one field; the first that is given counts. All raise
    InvalidParameter.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._read: set[str] = set()

    def unread(self) -> dict[str, Any]:
        """What is given under names that nobody asked for."""
        return {name: value for name, value in self._values.items() if name not in self._read}

    def name(self, *names: str) -> str | None:
        """The spelling that is given."""
        self._read.update(names)
        return next((name for name in names if self._values.get(name) is not None), None)

    def value(self, *names: str) -> Any:
        """The field as it came, None where it is left out."""
        name = self.name(*names)
        return None if name is None else self._values[name]

    def flag(self, *names: str) -> bool | None:
        """True or false."""
        value = self.value(*names)
        if value is not None and not isinstance(value, bool):
            raise InvalidParameter(self.name(*names) or names[0], "true or false")
        return value

    def whole(self, low: int, high: int, *names: str) -> int | None:
        """A whole number in ``low`` .. ``high``."""
        value = self.value(*names)
        if value is not None and not (_is_whole(value) and low <= value <= high):
            raise InvalidParameter(self.name(*names) or names[0], f"a whole number {low}..{high}")
        return None if value is None else int(value)

    def number(self, *names: str) -> float | int | None:
        """A finite number."""
        value = self.value(*names)
        if value is not None and not is_number(value):
            raise InvalidParameter(self.name(*names) or names[0], "a number")
        return None if value is None else value

    def text(self, limit: int, *names: str) -> str | None:
        """Unicode text of at most ``limit`` characters."""
        value = self.value(*names)
        if value is not None and not _is_text(value, limit):
            allowed = f"text of at most {limit} characters"
            raise InvalidParameter(self.name(*names) or names[0], allowed)
        return None if value is None else str(value)

    def choice(self, options: Sequence[_Name], *names: str) -> _Name | None:
        """One of ``options``."""
        value = self.value(*names)
        if value is None:
            return None
        for option in options:
            if value == option:
                return option
        raise InvalidParameter(self.name(*names) or names[0], f"one of {', '.join(options)}")

    def texts(self, count: int, limit: int, *names: str) -> tuple[str, ...]:
        """One text or a list of at most ``count`` of up to ``limit`` characters, but empty ones."""
        value = self.value(*names)
        items = [value] if isinstance(value, str) else [] if value is None else value
        if (
            not isinstance(items, list)
            or len(items) > count
            or not all(_is_text(item, limit) for item in items)
        ):
            allowed = f"a list of at most {count} texts of at most {limit} characters"
            raise InvalidParameter(self.name(*names) or names[0], allowed)
        return tuple(item for item in items if item)

    def tokens(self, vocab_size: int, count: int, *names: str) -> tuple[int, ...]:
        """A list of at most ``count`` token ids. Raises InvalidToken for one beyond the model's."""
        value = self.value(*names)
        items = [] if value is None else value
        if (
            not isinstance(items, list)
            or len(items) > count
            or not all(type(item) is int for item in items)
        ):
            allowed = f"a list of at most {count} token ids"
            raise InvalidParameter(self.name(*names) or names[0], allowed)
        for item in items:
            if not 0 <= item < vocab_size:
                raise InvalidToken(item, vocab_size)
        return tuple(items)


def is_number(value: object) -> bool:
    """Whether ``value`` is a number that a float64 can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # A whole number in JSON may have thousands of digits.
    return abs(value) <= _LARGEST_FLOAT


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object, limit: int) -> bool:
    if not isinstance(value, str) or len(value) > limit:
        return False
    # JSON escapes can spell half of a surrogate pair, which no encoding carries.
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
