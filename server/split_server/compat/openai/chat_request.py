"""``POST /v1/chat/completions``: what is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields
from split_server.compat.openai.messages import parse_messages
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.options import MAX_TOP_LOGPROBS, Options, parse_options
from split_server.compat.openai.response_format import AskedForm, parse_form
from split_server.compat.openai.tools import Tools, parse_tools

DEFAULT_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """``logprobs``: how many of the most likely tokens are told beside the chosen one, None for
    neither. ``form``: what the grammar enforces.
    """

    options: Options
    messages: tuple[dict[str, Any], ...]
    tools: Tools | None
    form: AskedForm | None
    logprobs: int | None


def parse_chat_request(fields: Fields, served: ServedModel) -> ChatRequest:
    """Raises the errors of ``compat.openai.errors`` and InvalidSamplingParameter."""
    _refuse_sound(fields)
    options = parse_options(fields, served, DEFAULT_TOKENS)
    messages = parse_messages(fields)
    tools = parse_tools(fields)
    form = parse_form(fields)
    if tools is not None and tools.forced:
        form = AskedForm.of_schema(tools.call_schema(), "tools")
    return ChatRequest(options, messages, tools, form, _logprobs(fields))


def _logprobs(fields: Fields) -> int | None:
    top = fields.whole("top_logprobs", 0, MAX_TOP_LOGPROBS)
    if fields.flag("logprobs"):
        return top or 0
    if top:
        raise InvalidParameter("top_logprobs", "left out unless logprobs is true")
    return None


def _refuse_sound(fields: Fields) -> None:
    kinds = fields.items("modalities", 8)
    if "audio" in fields or (kinds is not None and kinds != ["text"]):
        raise UnsupportedParameter("modalities", "this model writes text")
