"""Items of a request's input as messages of a chat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, as_text, check_unread
from split_server.compat.openai.prompts.messages import MAX_MESSAGES
from split_server.compat.openai.prompts.parts import text_of
from split_server.compat.responses.known import ITEMS, PARTS

_MAX_NAME = 256
_ROLES = ("user", "assistant", "system", "developer")
_REASONS = {
    "item_reference": "send the item itself; items are not found by their ids",
    "reasoning": "this model does not reason apart from its reply; leave such items out",
}
Message = dict[str, Any]


def parse_input(fields: Fields) -> list[Message]:
    """The field ``input``, a text or items: messages of a chat of OpenAI's form.

    Raises InvalidParameter, UnsupportedParameter.
    """
    given = fields.raw("input")
    if isinstance(given, str):
        return [{"role": "user", "content": as_text(given, "input")}]
    items = fields.inners("input", MAX_MESSAGES)
    if not items:
        raise InvalidParameter("input", f"a text or a list of 1..{MAX_MESSAGES} items")
    return list(_joined(_message(item) for item in items))


def _message(item: Fields) -> Message:
    kind = item.text("type", _MAX_NAME) or "message"
    if kind not in ITEMS:
        reason = _REASONS.get(kind, f"an item of type {kind!r}; here: {', '.join(ITEMS)}")
        raise UnsupportedParameter(item.path("type"), reason)
    check_unread(item, ITEMS[kind])
    if kind == "function_call":
        return _call(item)
    if kind == "function_call_output":
        output = text_of(item, "output", PARTS)
        return {"role": "tool", "tool_call_id": _named(item, "call_id"), "content": output}
    role = item.choice("role", _ROLES)
    if role is None:
        raise InvalidParameter(item.path("role"), "one of " + ", ".join(_ROLES))
    return {"role": role, "content": text_of(item, "content", PARTS)}


def _call(item: Fields) -> Message:
    function = {"name": _named(item, "name"), "arguments": item.text("arguments") or "{}"}
    call = {"id": _named(item, "call_id"), "type": "function", "function": function}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def _named(item: Fields, name: str) -> str:
    text = item.text(name, _MAX_NAME)
    if not text:
        raise InvalidParameter(item.path(name), "a string")
    return text


def _joined(messages: Iterator[Message]) -> Iterator[Message]:
    """A message of the assistant has the calls that follow it."""
    last: Message | None = None
    for message in messages:
        if last is not None and last["role"] == "assistant" and "tool_calls" in message:
            calls = [*last.get("tool_calls", ()), *message["tool_calls"]]
            last = last | {"tool_calls": calls}
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last
