"""``functions`` and ``function_call``, which OpenAI's API had before ``tools``."""

from __future__ import annotations

from typing import Any

from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, as_fields

_MOST = 128


def with_tools(fields: Fields) -> tuple[Fields, bool]:
    """``fields`` with tools in the place of functions, and whether there were functions.

    Raises InvalidParameter.
    """
    functions = fields.inners("functions", _MOST)
    choice = fields.raw("function_call")
    if not functions:
        return fields, False
    if "tools" in fields:
        raise InvalidParameter("functions", "left out beside tools")
    if choice is not None and not isinstance(choice, str):
        as_fields(choice, "function_call")
    tools = [{"type": "function", "function": each} for each in fields.raw("functions")]
    own: dict[str, Any] = {"tools": tools, "tool_choice": choice, "parallel_tool_calls": False}
    return fields.replaced(own), True


def message_with_tools(message: Fields) -> Fields:
    """A message of the older form as one that calls a tool, or tells the result of a call.

    Raises InvalidParameter.
    """
    role = message.raw("role")
    if role == "function":
        return message.replaced({"role": "tool", "tool_call_id": message.raw("name")})
    if role != "assistant" or "function_call" not in message or "tool_calls" in message:
        return message
    call = message.inner("function_call")
    name = None if call is None else call.raw("name")
    called = {"id": name, "type": "function", "function": message.raw("function_call")}
    return message.replaced({"tool_calls": [called]})
