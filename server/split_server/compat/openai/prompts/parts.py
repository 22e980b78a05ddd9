"""A field that is a text, or parts of which each has one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from split_server.compat.accepted.values import Accepted
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, as_fields, as_text, check_unread

MAX_PARTS: Final = 256
_MAX_KIND = 256
_SEVERAL = 2
# What is said of a part beside its text changes nothing.
_ANY: Final = None
Kinds = Mapping[str, Accepted | None]
# Those of chats.
CHAT_PARTS: Final[Kinds] = MappingProxyType({"text": _ANY, "refusal": _ANY})


def text_of(fields: Fields, name: str, kinds: Kinds = CHAT_PARTS) -> str:
    """The field ``name``: a text, or the texts of parts, joined by line ends. ``kinds``: of parts,
    with what is accepted in each, None for anything.

    Raises InvalidParameter, UnsupportedParameter.
    """
    given, path = fields.raw(name), fields.path(name)
    if isinstance(given, str):
        return as_text(given, path)
    if not isinstance(given, list) or len(given) > MAX_PARTS:
        raise InvalidParameter(path, f"a string or a list of at most {MAX_PARTS} text parts")
    return "\n".join(_part(value, f"{path}[{index}]", kinds) for index, value in enumerate(given))


def texts_of(message: Fields) -> list[str]:
    """The texts of the ``content`` of a message that was read, where it has several parts."""
    given = message.raw("content")
    if not isinstance(given, list) or len(given) < _SEVERAL:
        return []
    return [_part(value, message.path("content"), CHAT_PARTS) for value in given]


def _part(value: Any, path: str, kinds: Kinds) -> str:
    part = as_fields(value, path)
    kind = part.text("type", _MAX_KIND)
    if kind is None or kind not in kinds:
        named = "without a type" if kind is None else f"of type {kind!r}"
        raise UnsupportedParameter(
            path, f"a part {named}; this model reads parts of type {', '.join(kinds)}"
        )
    accepted = kinds[kind]
    if accepted is not None:
        check_unread(part, accepted)
    name = "refusal" if kind == "refusal" else "text"
    text = part.text(name)
    if text is None:
        raise InvalidParameter(part.path(name), "a string")
    return text
