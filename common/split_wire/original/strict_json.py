"""JSON from a peer that is not trusted: one object, no duplicate keys, no NaN, bounded in size."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from split_wire.errors import FrameTooLarge, MalformedMessage

# More commas and brackets than any message of this protocol has, inside its texts too: a body of
# many megabytes may be one long base64 text, not millions of small values.
_MAX_MARKS = 20_000
_MARKS = (",", "[", "{")


def parse_object(data: str | bytes | memoryview, limit: int) -> dict[str, Any]:
    """The JSON object in ``data``, at most ``limit`` bytes of UTF-8 (or characters of text).

    Raises FrameTooLarge, MalformedMessage.
    """
    if len(data) > limit:
        raise FrameTooLarge(len(data), limit)
    try:
        text = data if isinstance(data, str) else bytes(data).decode("utf-8")
        if sum(text.count(mark) for mark in _MARKS) > _MAX_MARKS:
            raise MalformedMessage("the JSON holds too many values")
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    # ValueError also covers bytes that are not UTF-8 and integers of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise MalformedMessage("not readable as JSON") from error
    if not isinstance(value, dict):
        raise MalformedMessage("the JSON must be an object")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise MalformedMessage("a key occurs twice in the JSON")
    return values


def _refuse(constant: str) -> NoReturn:
    raise MalformedMessage(f"{constant} is not JSON")
