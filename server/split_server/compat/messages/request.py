"""``POST /v1/messages`` and ``/v1/messages/count_tokens``: what is asked for.

Source: Anthropic's API reference, Messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from split_server.compat.messages.known import CHOICE, FORMAT, OUTPUT, REQUEST, THINKING, TOOL
from split_server.compat.messages.turns import parse_turns
from split_server.compat.openai.chat_request import ChatRequest, parse_chat_request
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.tools import MAX_TOOLS
from split_server.compat.translating.renaming import Renames, renamed, renames

_MAX_KIND = 64
_CUSTOM = "custom"
# Those with the same name and meaning in OpenAI's request.
_SAME = ("model", "max_tokens", "stream", "temperature", "top_k", "top_p", "cache", "cache_salt")
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
_NO_THINKING = "this model writes no thinking blocks; leave it out, or say disabled"
RENAMES: Final[Renames] = renames(
    (r"stop\b", "stop_sequences"),
    (r"(tools\[\d+\])\.function\.parameters", r"\1.input_schema"),
    (r"(tools\[\d+\])\.function", r"\1"),
    (r"tool_choice\.function", "tool_choice"),
    (r"response_format\.json_schema", "output_config.format"),
    (r"response_format", "output_config.format"),
)


@dataclass(frozen=True, slots=True)
class MessagesRequest:
    """``chat``: the same as a request of OpenAI's API."""

    chat: ChatRequest


def parse_messages_request(fields: Fields, served: ServedModel) -> MessagesRequest:
    """Raises the errors of ``compat.openai.errors`` and InvalidSamplingParameter, which speak of
    the parameters of this API.
    """
    if fields.raw("max_tokens") is None:
        raise InvalidParameter("max_tokens", "a whole number from 1")
    return _parsed(fields, served)


def parse_count_request(fields: Fields, served: ServedModel) -> MessagesRequest:
    """The same, which needs no ``max_tokens``."""
    return _parsed(fields, served)


def _parsed(fields: Fields, served: ServedModel) -> MessagesRequest:
    check_unread(fields, REQUEST)
    _check_thinking(fields)
    chat: dict[str, Any] = {name: fields.raw(name) for name in _SAME}
    chat |= {"stop": _stops(fields), "messages": parse_turns(fields)}
    chat |= {"tools": _tools(fields), "response_format": _format(fields)}
    chat |= _choice(fields)
    with renamed(RENAMES):
        return MessagesRequest(parse_chat_request(Fields(chat), served))


def _check_thinking(fields: Fields) -> None:
    """``adaptive`` leaves it to the model whether it thinks, and this one does not."""
    thinking = fields.inner("thinking")
    if thinking is None:
        return
    check_unread(thinking, THINKING)
    if thinking.text("type", _MAX_KIND) not in ("disabled", "adaptive"):
        raise UnsupportedParameter("thinking.type", _NO_THINKING)


def _stops(fields: Fields) -> list[Any] | None:
    """A text alone, which OpenAI's request may have, is no list."""
    given = fields.raw("stop_sequences")
    if given is not None and not isinstance(given, list):
        raise InvalidParameter("stop_sequences", "a list of strings")
    return given


def _tools(fields: Fields) -> list[dict[str, Any]] | None:
    given = fields.inners("tools", MAX_TOOLS)
    return None if given is None else [_tool(tool) for tool in given]


def _tool(tool: Fields) -> dict[str, Any]:
    kind = tool.text("type", _MAX_KIND)
    if kind not in (None, _CUSTOM):
        reason = f"a tool of type {kind!r} is not run here; define your own"
        raise UnsupportedParameter(tool.path("type"), reason)
    check_unread(tool, TOOL)
    if "input_schema" not in tool:
        raise InvalidParameter(tool.path("input_schema"), "a JSON schema")
    function = {
        "name": tool.raw("name"),
        "description": tool.raw("description"),
        "parameters": tool.raw("input_schema"),
    }
    return {"type": "function", "function": function}


def _choice(fields: Fields) -> dict[str, Any]:
    choice = fields.inner("tool_choice")
    if choice is None:
        return {}
    check_unread(choice, CHOICE)
    parallel = not choice.flag("disable_parallel_tool_use")
    kind = choice.choice("type", (*_CHOICES, "tool"))
    if kind is None:
        raise InvalidParameter("tool_choice.type", "one of auto, any, tool, none")
    if kind in ("any", "tool") and not fields.raw("tools"):
        raise InvalidParameter("tool_choice", "auto or none where there are no tools")
    if kind == "tool":
        named = {"type": "function", "function": {"name": choice.raw("name")}}
        return {"tool_choice": named, "parallel_tool_calls": parallel}
    return {"tool_choice": _CHOICES[kind], "parallel_tool_calls": parallel}


def _format(fields: Fields) -> dict[str, Any] | None:
    output = fields.inner("output_config")
    if output is None:
        return None
    check_unread(output, OUTPUT)
    form = output.inner("format")
    if form is None:
        return None
    check_unread(form, FORMAT)
    if form.text("type", _MAX_KIND) != "json_schema":
        raise UnsupportedParameter("output_config.format.type", "it is json_schema")
    return {"type": "json_schema", "json_schema": {"schema": form.raw("schema")}}
