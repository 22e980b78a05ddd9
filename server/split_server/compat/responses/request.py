"""``POST /v1/responses``: what is asked for.

Source: OpenAI's API reference, Responses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from split_server.compat.openai.chat_request import ChatRequest, parse_chat_request
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, as_fields, as_text, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.options import MAX_TOP_LOGPROBS
from split_server.compat.openai.tools import MAX_TOOLS
from split_server.compat.responses.items import Message, parse_input
from split_server.compat.responses.known import (
    CHOICE,
    EXTENSIONS,
    FORMAT,
    INCLUDED,
    REASONING,
    REQUEST,
    STREAM,
    TEXT,
    TOOL,
)
from split_server.compat.translating.renaming import Renames, renamed, renames

_MAX_KIND, _MAX_NAME, _MAX_ID = 64, 256, 128
_MAX_PAIRS, _MAX_VALUE = 16, 512
_LOGPROBS = INCLUDED[0]
_SAME = (
    "model", "parallel_tool_calls", "prompt_cache_retention", "stream", "temperature", "top_p",
    *EXTENSIONS,
)  # fmt: skip
_ECHOED = (
    "instructions", "max_output_tokens", "max_tool_calls", "previous_response_id",
    "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "temperature", "top_p",
    "user",
)  # fmt: skip
RENAMES: Final[Renames] = renames(
    (r"messages", "input"),
    (r"max_tokens", "max_output_tokens"),
    (r"(tools\[\d+\])\.function", r"\1"),
    (r"tool_choice\.function", "tool_choice"),
    (r"response_format\.json_schema", "text.format"),
    (r"response_format", "text.format"),
)


@dataclass(frozen=True, slots=True)
class ResponsesRequest:
    """``chat``: the same as a request of OpenAI's chats, without ``instructions`` and what was
    said in the response ``previous``. ``store``: whether the response is to be kept; ``items``: its
    input, as it was sent; ``echo``: fields that come back in the answer.
    """

    chat: ChatRequest
    instructions: str
    previous: str | None
    store: bool
    items: list[Any]
    echo: dict[str, Any]

    def after(self, history: list[Message]) -> ChatRequest:
        """The chat behind what was said before."""
        messages = [*history, *self.chat.messages]
        if self.instructions and messages[0]["role"] == "system":
            first = f"{self.instructions}\n{messages[0]['content']}"
            messages[0] = messages[0] | {"content": first}
        elif self.instructions:
            messages.insert(0, {"role": "system", "content": self.instructions})
        return replace(self.chat, messages=tuple(messages))


def parse_responses_request(fields: Fields, served: ServedModel) -> ResponsesRequest:
    """Raises the errors of ``compat.openai.errors`` and InvalidSamplingParameter, which speak of
    the parameters of this API.
    """
    check_unread(fields, REQUEST)
    for name, known in (("reasoning", REASONING), ("stream_options", STREAM)):
        inner = fields.inner(name)
        if inner is not None:
            check_unread(inner, known)
    chat: dict[str, Any] = {name: fields.raw(name) for name in _SAME}
    chat |= {"messages": parse_input(fields), "max_tokens": fields.raw("max_output_tokens")}
    chat |= _tools(fields) | {"response_format": _format(fields)} | _scored(fields)
    metadata = _metadata(fields)
    with renamed(RENAMES):
        parsed = parse_chat_request(Fields(chat), served)
    given = fields.raw("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return ResponsesRequest(
        parsed,
        fields.text("instructions") or "",
        fields.text("previous_response_id", _MAX_ID),
        fields.flag("store"),
        items,
        _echo(fields, metadata),
    )


def _tools(fields: Fields) -> dict[str, Any]:
    """``tools`` and ``tool_choice`` as chats have them."""
    tools = [_tool(tool) for tool in fields.inners("tools", MAX_TOOLS) or []]
    choice = fields.raw("tool_choice")
    if not tools and choice not in (None, "auto", "none"):
        raise InvalidParameter("tool_choice", "auto or none where there are no tools")
    if choice is None or isinstance(choice, str):
        return {"tools": tools, "tool_choice": choice}
    return _chosen(as_fields(choice, "tool_choice"), tools)


def _chosen(chosen: Fields, tools: list[dict[str, Any]]) -> dict[str, Any]:
    """``tools`` and ``tool_choice`` where the choice is an object."""
    kind = chosen.text("type", _MAX_KIND)
    if kind not in ("allowed_tools", "function"):
        raise UnsupportedParameter("tool_choice", "it names a tool of type function")
    check_unread(chosen, CHOICE)
    if kind == "allowed_tools":
        names = [tool.raw("name") for tool in chosen.inners("tools", MAX_TOOLS) or []]
        mode = chosen.choice("mode", ("auto", "required")) or "auto"
        allowed = [tool for tool in tools if tool["function"]["name"] in names]
        if len(allowed) < len(names):
            raise InvalidParameter("tool_choice.tools", "names of the tools")
        return {"tools": allowed, "tool_choice": mode}
    return {
        "tools": tools,
        "tool_choice": {"type": "function", "function": {"name": chosen.raw("name")}},
    }


def _tool(tool: Fields) -> dict[str, Any]:
    kind = tool.text("type", _MAX_KIND)
    if kind != "function":
        reason = f"a tool of type {kind!r} is not run here; define a function"
        raise UnsupportedParameter(tool.path("type"), reason)
    check_unread(tool, TOOL)
    function = {name: tool.raw(name) for name in ("name", "description", "parameters")}
    return {"type": "function", "function": function}


def _format(fields: Fields) -> dict[str, Any] | None:
    text = fields.inner("text")
    if text is None:
        return None
    check_unread(text, TEXT)
    form = text.inner("format")
    if form is None:
        return None
    check_unread(form, FORMAT)
    kind = form.raw("type")
    schema = {"json_schema": {"schema": form.raw("schema")}} if kind == "json_schema" else {}
    return {"type": kind} | schema


def _scored(fields: Fields) -> dict[str, Any]:
    """Logprobs are told where so many of them, or they by name, are asked for."""
    included = fields.items("include", 16) or []
    for name in included:
        if name not in INCLUDED:
            raise UnsupportedParameter("include", f"nothing is called {str(name)[:100]!r} here")
    top = fields.whole("top_logprobs", 0, MAX_TOP_LOGPROBS)
    scored = bool(top) or _LOGPROBS in included
    return {"logprobs": scored or None, "top_logprobs": top if scored else None}


def _metadata(fields: Fields) -> dict[str, str]:
    """Raises InvalidParameter."""
    given = fields.raw("metadata")
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > _MAX_PAIRS:
        raise InvalidParameter("metadata", f"an object of at most {_MAX_PAIRS} texts")
    path = fields.path("metadata")
    return {
        as_text(name, path, _MAX_KIND): as_text(value, f"{path}.{name[:_MAX_KIND]}", _MAX_VALUE)
        for name, value in given.items()
    }


def _echo(fields: Fields, metadata: dict[str, str]) -> dict[str, Any]:
    """What an answer tells again of its request."""
    for name in ("prompt_cache_key", "safety_identifier", "user"):
        fields.text(name, _MAX_VALUE)
    fields.whole("max_tool_calls", 0, 1 << 24)
    echo = {name: fields.raw(name) for name in _ECHOED}
    form = fields.inner("text")
    asked = {"type": "text"} if form is None else form.raw("format") or {"type": "text"}
    return echo | {
        "metadata": metadata,
        "parallel_tool_calls": fields.flag("parallel_tool_calls", True),
        "text": {"format": asked, "verbosity": "medium"},
        "tool_choice": fields.raw("tool_choice") or "auto",
        "tools": fields.raw("tools") or [],
        "top_logprobs": fields.raw("top_logprobs") or 0,
    }
