"""``POST /v1/chat/completions``: what is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.compat.accepted.openai import CHAT
from split_server.compat.openai.calling.older import with_tools
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.options import MAX_TOP_LOGPROBS, Options, parse_options
from split_server.compat.openai.prompts.messages import MAX_MESSAGES, parse_messages
from split_server.compat.openai.prompts.parts import text_of, texts_of
from split_server.compat.openai.prompts.writing import USUAL_WRITING, Writing, parse_writing
from split_server.compat.openai.response_format import AskedForm, parse_form
from split_server.compat.openai.tools import Tools, parse_tools

DEFAULT_TOKENS = 1024
_MAX_KIND = 64


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """``logprobs``: how many of the most likely tokens are told beside the chosen one, None for
    neither. ``form``: what the grammar enforces; ``prediction``: a text that the reply is
    expected to be, empty where there is none. ``writing``: how the template writes the chat;
    ``older``: a call is told as one of a function. ``parts``: the texts of messages that have
    several, and ``asked``: the last one of the newest message of the user, where it has some.
    """

    options: Options
    messages: tuple[dict[str, Any], ...]
    tools: Tools | None
    form: AskedForm | None
    logprobs: int | None
    prediction: str = ""
    writing: Writing = USUAL_WRITING
    older: bool = False
    parts: tuple[str, ...] = ()
    asked: str = ""


def parse_chat_request(fields: Fields, served: ServedModel) -> ChatRequest:
    """Raises the errors of ``compat.openai.errors`` and InvalidSamplingParameter."""
    _refuse_sound(fields)
    fields, older = with_tools(fields)
    options = parse_options(fields, served, DEFAULT_TOKENS)
    messages = parse_messages(fields)
    tools = parse_tools(fields)
    form = parse_form(fields)
    if tools is not None and tools.forced:
        form = AskedForm.of_schema(tools.call_schema(), "tools")
    asked = ChatRequest(
        options,
        messages,
        tools,
        form,
        _logprobs(fields),
        _prediction(fields),
        parse_writing(fields, messages),
        older,
        *_parts(fields),
    )
    check_unread(fields, CHAT)
    return asked


def _parts(fields: Fields) -> tuple[tuple[str, ...], str]:
    """The texts of messages that were parsed, where they have several, and the last one of the
    newest message of the user.
    """
    found, asked = list[str](), ""
    for message in fields.inners("messages", MAX_MESSAGES) or ():
        texts = texts_of(message)
        found += texts
        if message.raw("role") == "user":
            asked = texts[-1] if texts else ""
    return tuple(found), asked


def _logprobs(fields: Fields) -> int | None:
    top = fields.whole("top_logprobs", 0, MAX_TOP_LOGPROBS)
    if fields.flag("logprobs"):
        return top or 0
    if top:
        raise InvalidParameter("top_logprobs", "left out unless logprobs is true")
    return None


def _refuse_sound(fields: Fields) -> None:
    kinds = fields.items("modalities", 8)
    for name, wanted in (
        ("audio", "audio" in fields),
        ("modalities", kinds not in (None, ["text"])),
    ):
        if wanted:
            raise UnsupportedParameter(name, "this model writes text")


def _prediction(fields: Fields) -> str:
    """A text that most of the reply is expected to be, such as a file that is to be edited."""
    prediction = fields.inner("prediction")
    if prediction is None:
        return ""
    if prediction.text("type", _MAX_KIND) != "content":
        raise UnsupportedParameter(prediction.path("type"), "a prediction has the type content")
    if "content" not in prediction:
        raise InvalidParameter(prediction.path("content"), "a string or a list of text parts")
    return text_of(prediction, "content")
