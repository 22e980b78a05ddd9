"""Which keywords of JSON schemas are enforced: one list, which the web app reads as well.

What is not in the list of either kind is an annotation, as JSON Schema 2020-12 has it (section 6.5
of its core), and does not limit a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from split_client.grammar.errors import GrammarInvalid

_LIST: Final = json.loads(Path(__file__).with_name("keywords.json").read_text("ascii"))
_REFUSED: Final = frozenset(_LIST["refused"])
_FORMATS: Final = frozenset(_LIST["formats"])
_HARMLESS: Final[dict[str, list[Any]]] = _LIST["harmless"]
_ONE: Final[tuple[str, ...]] = tuple(_LIST["one_schema"])
_LISTED: Final[tuple[str, ...]] = tuple(_LIST["schemas_in_list"])
_NAMED: Final[tuple[str, ...]] = tuple(_LIST["schemas_by_name"])
ITEM_SEPARATOR: Final[str] = _LIST["separators"]["item"]
KEY_SEPARATOR: Final[str] = _LIST["separators"]["key"]
MOST_BYTES: Final[int] = _LIST["most_bytes"]
MOST_DEPTH: Final[int] = _LIST["most_depth"]
MOST_CHOICES: Final[int] = _LIST["most_choices"]


def check_keywords(schema: Any) -> None:
    """Refuse the first keyword that cannot be enforced, by name and path. Raises GrammarInvalid."""
    for path, node in _schemas(schema):
        for name in sorted(_REFUSED & node.keys()):
            if not _is_harmless(name, node[name]):
                raise GrammarInvalid(f"keyword {name} at {path} cannot be enforced; leave it out")
        known = node.get("format")
        if isinstance(known, str) and known not in _FORMATS:
            raise GrammarInvalid(f"format {known!r} at {path} cannot be enforced; leave it out")


def without_harmless(schema: Any) -> None:
    """Take keywords out of ``schema`` that demand nothing there: ``uniqueItems: false``."""
    for _, node in _schemas(schema):
        for name in _HARMLESS.keys() & node.keys():
            if _is_harmless(name, node[name]):
                del node[name]


def _is_harmless(name: str, value: Any) -> bool:
    # True equals 1, which is no schema.
    return any(value is harmless for harmless in _HARMLESS.get(name, ()))


def _schemas(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema within ``schema`` with its path; names of properties and values are none."""
    waiting = [("#", schema)]
    while waiting:
        path, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield path, node
        inner = [(f"{path}/{name}", node[name]) for name in _ONE if name in node]
        for name in _LISTED:
            parts = node.get(name)
            if isinstance(parts, list):
                inner += [(f"{path}/{name}/{at}", part) for at, part in enumerate(parts)]
        for name in _NAMED:
            parts = node.get(name)
            if isinstance(parts, dict):
                inner += [(f"{path}/{name}/{_escaped(key)}", part) for key, part in parts.items()]
        waiting += reversed(inner)


def _escaped(key: str) -> str:
    """``key`` within a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
