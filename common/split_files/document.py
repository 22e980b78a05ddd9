"""JSON of a file, read strictly: what two readers could understand differently is refused."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

# A text up to its closing quote, or to the end of the data where it has none: what begins a text
# is always one, as every further look would go through the rest again.
_TEXT: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_MARKS: Final = (b",", b"[", b"{")
# A value takes up to 200 bytes once it is read, a text aside.
MAX_VALUES: Final = 200_000


class DocumentInvalid(ValueError):
    """Bytes that are not the strict JSON that is wanted; the message is the reason alone."""

    code: Final = "document_invalid"


def parse_document(data: bytes, max_values: int = MAX_VALUES) -> Any:
    """The JSON value in ``data``, which is UTF-8 with at most ``max_values`` values beside texts.

    Raises DocumentInvalid for anything else: a key that occurs twice, NaN and the infinities,
    nesting without end.
    """
    if _values(data) > max_values:
        raise DocumentInvalid(f"it holds more than {max_values} values")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse)
    except DocumentInvalid:
        raise
    # ValueError: neither UTF-8 nor JSON, or an integer of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise DocumentInvalid("it is not JSON") from error


def is_version(value: object, wanted: int) -> bool:
    """Whether a document's ``value`` is the whole number ``wanted``; ``true`` and 1.0 are not 1."""
    return type(value) is int and value == wanted


def _values(data: bytes) -> int:
    """At least as many as there are values, as each but the first follows a mark."""
    between = _TEXT.sub(b"", data)
    return sum(between.count(mark) for mark in _MARKS)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise DocumentInvalid("a key occurs twice in it")
    return values


def _refuse(constant: str) -> NoReturn:
    raise DocumentInvalid(f"{constant} is not JSON")
