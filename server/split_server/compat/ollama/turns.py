"""Messages of Ollama's form as those of OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from split_server.compat.ollama.known import CALL, FUNCTION, MESSAGE
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.prompts.messages import MAX_MESSAGES
from split_server.compat.openai.tools import MAX_SCHEMA

_MAX_CALLS = 128
_MAX_NAME = 256
_ROLES = ("system", "user", "assistant", "tool")
Message = dict[str, Any]


def parse_turns(fields: Fields) -> list[Message]:
    """The field ``messages``; empty where there are none. Raises InvalidParameter,
    UnsupportedParameter.

    A result is that of the first call without one, as Ollama's calls have no ids; those that are
    sent are kept.
    """
    turns, messages, open_calls = fields.inners("messages", MAX_MESSAGES) or [], [], list[str]()
    for number, turn in enumerate(turns):
        message = _message(turn, number)
        open_calls += [call["id"] for call in message.get("tool_calls", ())]
        if message["role"] == "tool":
            given = turn.text("tool_call_id", _MAX_NAME)
            called = given or (open_calls[0] if open_calls else "")
            message["tool_call_id"] = called
            open_calls = [call for call in open_calls if call != called]
        messages.append(message)
    return messages


def _message(turn: Fields, number: int) -> Message:
    check_unread(turn, MESSAGE)
    role = turn.choice("role", _ROLES)
    if role is None:
        raise InvalidParameter(turn.path("role"), "one of " + ", ".join(_ROLES))
    message: Message = {"role": role, "content": turn.text("content") or ""}
    name = turn.text("tool_name", _MAX_NAME)
    if role == "tool" and name:
        message["name"] = name
    calls = list(_calls(turn, number)) if role == "assistant" else []
    return message | ({"tool_calls": calls} if calls else {})


def _calls(turn: Fields, number: int) -> Iterator[Message]:
    for index, call in enumerate(turn.inners("tool_calls", _MAX_CALLS) or []):
        check_unread(call, CALL)
        function = call.inner("function")
        if function is None:
            raise InvalidParameter(call.path("function"), "an object")
        check_unread(function, FUNCTION)
        name = function.text("name", _MAX_NAME)
        if name is None:
            raise InvalidParameter(function.path("name"), "a string")
        arguments = function.document("arguments", MAX_SCHEMA) or {}
        called = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        id_ = call.text("id", _MAX_NAME) or f"call_{number}_{index}"
        yield {"id": id_, "type": "function", "function": called}
