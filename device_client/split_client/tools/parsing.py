"""Calls in the text between two marks, whatever the family."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from split_client.grammar.schema import depth
from split_client.tools.call import NewId, ToolCall
from split_client.tools.families import CallForm

# Of arguments; templates, checks and grammars follow nested values by recursion.
MAX_DEPTH: Final = 64
MAX_NAME: Final = 128
_NAMES: Final = ("name", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters")
_MOST_CALLS: Final = 128
# Mistral's newer form: the name, perhaps an id, then the arguments alone.
_NAMED: Final = re.compile(
    r"([A-Za-z0-9_.-]{1,128})\s*(?:\[CALL_ID\]\w{0,64})?(?:\[ARGS\])?\s*(\{.*)", re.DOTALL
)
_HALVES: Final = re.compile("[\ud800-\udfff]")


def calls_in(body: str, form: CallForm, new_id: NewId) -> list[ToolCall]:
    """The calls that ``body`` is; none where anything else is in it."""
    body = body.strip()
    if form.several == "list" and (named := _NAMED.fullmatch(body)) is not None:
        values = [{"name": named[1], "arguments": value} for value in objects(named[2])]
    else:
        values = objects(body)
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    if form.several == "one" and len(values) != 1:
        return []
    made = [call_of(value, new_id) for value in values[:_MOST_CALLS]]
    whole = [call for call in made if call is not None]
    return whole if len(whole) == len(values) else []


def call_of(value: object, new_id: NewId) -> ToolCall | None:
    """The call that ``value`` describes, if it does and is not nested too deeply."""
    if not isinstance(value, dict):
        return None
    name = next((value[key] for key in _NAMES if key in value), None)
    arguments = next((value[key] for key in _ARGUMENTS if key in value), None)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    if not 0 < len(name) <= MAX_NAME or depth(arguments, MAX_DEPTH) > MAX_DEPTH:
        return None
    try:
        text = json.dumps(arguments, ensure_ascii=False, allow_nan=False)
    except ValueError:
        # Python reads NaN, and 1e999 as infinite; neither is JSON.
        return None
    return ToolCall(new_id(), _encodable(name), _encodable(text))


def _encodable(text: str) -> str:
    """``text`` with U+FFFD for half a surrogate pair, which JSON can escape and no bytes hold."""
    return _HALVES.sub("\ufffd", text)


def objects(text: str) -> list[Any]:
    """The JSON values of ``text``, separated by ``;``; none where anything else is in it."""
    decoder, values, rest = json.JSONDecoder(), list[Any](), text.strip()
    while rest:
        try:
            value, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            return []
        values.append(value)
        rest = rest[end:].lstrip()
        if rest and not rest.startswith(";"):
            return []
        rest = rest[1:].lstrip()
    return values
