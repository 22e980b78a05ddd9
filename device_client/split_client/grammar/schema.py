"""Checks of a JSON schema before a grammar is made of it: JSON, small, and not nested deeply.

The grammar library follows nested schemas and references by recursion, so that their depth is
bounded here, before it begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from split_client.grammar.errors import GrammarInvalid
from split_client.grammar.keywords import (
    MOST_BYTES,
    MOST_DEPTH,
    check_keywords,
    without_harmless,
)

# Of the schema and of all that it refers to, one below the other.
MAX_REACH: Final = 2000

# Of an item, in digits that a number may have.
_PLACE: Final = re.compile(r"[0-9]{1,9}")

Schema = dict[str, Any]


def checked(schema: Any) -> Schema:
    """A copy of ``schema`` without the library's own options. Raises GrammarInvalid."""
    if not isinstance(schema, dict):
        raise GrammarInvalid("it is not an object")
    if depth(schema, MOST_DEPTH) > MOST_DEPTH:
        raise GrammarInvalid(f"it is nested deeper than {MOST_DEPTH}")
    text = _text({key: value for key, value in schema.items() if key != "x-guidance"})
    if len(text) > MOST_BYTES:
        raise GrammarInvalid(f"it has {len(text)} bytes, more than {MOST_BYTES}")
    rules: Schema = json.loads(text)
    check_keywords(rules)
    if _reach(rules) > MAX_REACH:
        raise GrammarInvalid("it refers to too much; use fewer or flatter definitions")
    _check_countable(rules)
    without_harmless(rules)
    return rules


def _text(rules: Schema) -> str:
    try:
        json.dumps(rules, ensure_ascii=False).encode()
        return json.dumps(rules, allow_nan=False)
    except UnicodeEncodeError:
        raise GrammarInvalid("it holds half of a surrogate pair, which is no text") from None
    except (TypeError, ValueError):
        raise GrammarInvalid("it is not JSON") from None


def depth(value: Any, most: int) -> int:
    """The number of arrays and objects within each other; above ``most`` it is not counted on."""
    level, found = [value], 0
    while found <= most:
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            break
        found += 1
    return found


def nodes(schema: Any) -> Iterator[Schema]:
    """Every object within ``schema``, itself included."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
        waiting += _inner(value)


def resolved(root: Schema, reference: Any) -> Any:
    """The target of a JSON pointer within ``root``; None for other references and for nothing."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    value: Any = root
    for part in unquote(reference[1:]).split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and _PLACE.fullmatch(part) and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


def _reach(rules: Schema) -> int:
    whole = depth(rules, MOST_DEPTH)
    names = {value for node in nodes(rules) if isinstance(value := node.get("$ref"), str)}
    if len(names) > MAX_REACH:
        return len(names)
    targets = (resolved(rules, name) for name in names)
    return whole + sum(whole if t is None else 1 + depth(t, MOST_DEPTH) for t in targets)


def _inner(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _check_countable(rules: Schema) -> None:
    """The library counts repeated keys of a map as several properties, validators as one."""
    for node in nodes(rules):
        least, required = node.get("minProperties"), node.get("required")
        count = len(required) if isinstance(required, list) else 0
        if isinstance(least, int) and least > max(1, count):
            raise GrammarInvalid("minProperties above 1 needs as many required properties")
