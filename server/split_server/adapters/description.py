"""``adapter.json``: what an adapter says of itself."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from split_wire.errors import SplitError
from split_wire.original.strict_json import parse_object

PLACEMENT = "final_hidden_state"
MAX_BYTES = 256 * 1024
MAX_RANK = 64
MAX_HIDDEN = 1 << 16
MAX_SCALE = 1e4
MAX_TEXT = 1000
MAX_KEYWORDS, MAX_KEYWORD = 250, 64
# Names travel in URLs, file names and the fields of both protocols.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
# Words that a device has for no adapter and for choosing one by the text.
_RESERVED = frozenset({"none", "auto"})
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Description:
    """The checked fields of the file, as :class:`AdapterFile` has them."""

    name: str
    description: str
    rank: int
    hidden_size: int
    scale: float
    keywords: tuple[str, ...]
    base_model_sha256: str | None
    license: str


def parse_description(data: bytes) -> Description:
    """Raises ValueError with the reason. Unknown keys are ignored."""
    try:
        values = parse_object(data, MAX_BYTES)
    except SplitError as error:
        raise ValueError(f"adapter.json: {error}") from error
    _check_placement(values)
    return Description(
        name=_name(values),
        description=_text(values, "description"),
        rank=_whole(values, "rank", MAX_RANK),
        hidden_size=_whole(values, "hidden_size", MAX_HIDDEN),
        scale=_scale(values),
        keywords=_keywords(values),
        base_model_sha256=_digest(values),
        license=_text(values, "license"),
    )


def _check_placement(values: dict[str, Any]) -> None:
    placement = values.get("placement")
    if placement != PLACEMENT:
        raise ValueError(
            f"its placement is {str(placement)[:60]!r}, and only {PLACEMENT!r} is supported: "
            "an adapter inside the layers would change the cache that sessions share"
        )


def _name(values: dict[str, Any]) -> str:
    name = values.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.lower() in _RESERVED:
        raise ValueError(
            "'name' must be 1 to 40 letters, digits, '.', '_' or '-', and not 'none' or 'auto'"
        )
    return name


def _text(values: dict[str, Any], field: str) -> str:
    text = values.get(field, "")
    if not isinstance(text, str) or len(text) > MAX_TEXT or not text.isprintable():
        raise ValueError(f"{field!r} must be at most {MAX_TEXT} printable characters")
    return text


def _whole(values: dict[str, Any], field: str, largest: int) -> int:
    number = values.get(field)
    if type(number) is not int or not 1 <= number <= largest:
        raise ValueError(f"{field!r} must be a whole number from 1 to {largest}")
    return number


def _scale(values: dict[str, Any]) -> float:
    scale = values.get("scale", 1.0)
    if type(scale) not in (int, float) or not math.isfinite(scale) or abs(scale) > MAX_SCALE:
        raise ValueError(f"'scale' must be a number of at most {MAX_SCALE:g}")
    return float(scale)


def _keywords(values: dict[str, Any]) -> tuple[str, ...]:
    words = values.get("keywords", [])
    if not isinstance(words, list) or len(words) > MAX_KEYWORDS:
        raise ValueError(f"'keywords' must be a list of at most {MAX_KEYWORDS} texts")
    for word in words:
        if not isinstance(word, str) or not 0 < len(word) <= MAX_KEYWORD or not word.isprintable():
            raise ValueError(f"a keyword must be 1 to {MAX_KEYWORD} printable characters")
    return tuple(words)


def _digest(values: dict[str, Any]) -> str | None:
    digest = values.get("base_model_sha256")
    if digest is None:
        return None
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        raise ValueError("'base_model_sha256' must be 64 lower-case hexadecimal digits")
    return digest
