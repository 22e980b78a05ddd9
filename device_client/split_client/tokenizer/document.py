"""The content of a tokenizer.json, read without the library and within bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from split_client.errors import TokenizerInvalid

# Of models in use the largest has 35 MB and 900,000 values.
_MAX_BYTES = 64 << 20
_MAX_MARKS = 2_000_000
_MARKS = (b",", b"[", b"{")
_MAX_PARTS = 16


class _Ambiguous(Exception):
    pass


def read_document(path: Path) -> dict[str, Any] | None:
    """The object in the file; None where it is too large or ambiguous to be judged here.

    Raises TokenizerInvalid.
    """
    try:
        if path.stat().st_size > _MAX_BYTES:
            return None
        data = path.read_bytes()
        if sum(data.count(mark) for mark in _MARKS) > _MAX_MARKS:
            return None
        value = json.loads(data, object_pairs_hook=_once)
    except _Ambiguous:
        return None
    # ValueError also covers bytes that are not UTF-8 and integers of thousands of digits.
    except (OSError, ValueError, RecursionError) as error:
        raise TokenizerInvalid("its file is damaged") from error
    if not isinstance(value, dict):
        raise TokenizerInvalid("its file is damaged")
    return value


def parts_of(value: Any, key: str) -> list[dict[str, Any]] | None:
    """A component without ``Sequence`` around it, which keeps its parts under ``key``.

    None where it is no such component, or has too many parts.
    """
    if value is None:
        return []
    if not isinstance(value, dict):
        return None
    if value.get("type") != "Sequence":
        return [value]
    parts = value.get(key)
    if not isinstance(parts, list) or len(parts) > _MAX_PARTS:
        return None
    if not all(isinstance(part, dict) and part.get("type") != "Sequence" for part in parts):
        return None
    return parts


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two readers may take different ones of two values under one key."""
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _Ambiguous
    return values
