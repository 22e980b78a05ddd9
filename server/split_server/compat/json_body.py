"""The JSON of a request's body, parsed beside the event loop without holding it up.

The library's parser lets no other thread run before it is done. Names of fields cost it fifty times
what other bytes do, so that they are counted first; every number is a moment for others.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

# A thousand messages and tools have a tenth of it.
MAX_NAMES: Final = 20_000
# Below this a body is parsed in a few milliseconds whatever it holds.
_SHORT: Final = 16 * 1024
# A text up to its closing quote, or to the end of the body, and whether it names a field.
_TEXT: Final = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"[ \t\n\r]*+(?P<name>:)?|\\?\Z)', re.DOTALL
)


def parsed_json(body: bytes) -> Any:
    """The value in ``body``: UTF-8, no NaN or infinities, at most 20,000 named fields.

    Raises ValueError for anything else, also for integers of thousands of digits, RecursionError.
    """
    text = body.decode("utf-8-sig")
    if len(body) <= _SHORT:
        return json.loads(text, parse_constant=_refuse)
    if body.count(b":") > MAX_NAMES and _has_more_names(body, MAX_NAMES):
        raise ValueError(f"too many fields; {MAX_NAMES} may have names")
    return json.loads(text, parse_constant=_refuse, parse_int=_whole, parse_float=_real)


def fault(error: ValueError | RecursionError) -> str:
    """What :func:`parsed_json` found, for whoever wrote the body; nothing of the body itself."""
    if isinstance(error, RecursionError):
        return "nested too deep"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno} column {error.colno}"
    # The library's own words about digits are about a setting of Python's.
    return "a number has too many digits" if "digits" in str(error) else str(error)


def _has_more_names(body: bytes, most: int) -> bool:
    found = 0
    for text in _TEXT.finditer(body):
        found += text["name"] is not None
        if found > most:
            return True
    return False


def _whole(digits: str) -> int:
    return int(digits)


def _real(digits: str) -> float:
    return float(digits)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON's")
