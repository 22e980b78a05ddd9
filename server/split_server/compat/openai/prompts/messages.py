"""Messages of a chat as a chat template takes them."""

from __future__ import annotations

import json
from typing import Any

from split_server.compat.openai.calling.older import message_with_tools
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields
from split_server.compat.openai.prompts.parts import text_of

MAX_MESSAGES = 4096
_MAX_CALLS = 128
_MAX_NAME = 256
# What the developer says is what older models know as the system's message.
_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


def parse_messages(fields: Fields) -> tuple[dict[str, Any], ...]:
    """The field ``messages``. Raises InvalidParameter, UnsupportedParameter."""
    messages = fields.inners("messages", MAX_MESSAGES)
    if not messages:
        raise InvalidParameter("messages", f"a list of 1..{MAX_MESSAGES} messages")
    return tuple(_message(message_with_tools(message)) for message in messages)


def _message(fields: Fields) -> dict[str, Any]:
    role = fields.choice("role", tuple(_ROLES))
    if role is None:
        raise InvalidParameter(fields.path("role"), "one of " + ", ".join(_ROLES))
    calls = _calls(fields) if role == "assistant" else []
    message: dict[str, Any] = {"role": _ROLES[role], "content": _content(fields, bool(calls))}
    if calls:
        message["tool_calls"] = calls
    name = fields.text("name", _MAX_NAME)
    if name is not None:
        message["name"] = name
    if role == "tool":
        message["tool_call_id"] = fields.text("tool_call_id", _MAX_NAME) or ""
    return message


def _content(fields: Fields, optional: bool) -> str:
    if fields.raw("content") is None and (optional or "refusal" in fields):
        return fields.text("refusal") or ""
    return text_of(fields, "content")


def _calls(fields: Fields) -> list[dict[str, Any]]:
    calls = fields.inners("tool_calls", _MAX_CALLS) or []
    return [_call(call) for call in calls]


def _call(fields: Fields) -> dict[str, Any]:
    fields.choice("type", ("function",))
    function = fields.inner("function")
    name = None if function is None else function.text("name", _MAX_NAME)
    if function is None or name is None:
        raise InvalidParameter(fields.path("function.name"), "a string")
    arguments = _arguments(function.text("arguments") or "")
    called = {"name": name, "arguments": arguments}
    return {"id": fields.text("id", _MAX_NAME) or "", "type": "function", "function": called}


def _arguments(text: str) -> Any:
    """Templates write arguments out as JSON, so they are given values instead of their text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
