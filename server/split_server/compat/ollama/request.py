"""``POST /api/chat`` and ``/api/generate``: what is asked for.

Source: Ollama's API reference (docs/api.md of its repository).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from split_server.compat.accepted.values import Accepted
from split_server.compat.ollama.known import CHAT, GENERATE
from split_server.compat.ollama.names import asked_model
from split_server.compat.ollama.options import RENAMES, chat_fields
from split_server.compat.ollama.turns import parse_turns
from split_server.compat.openai.chat_request import ChatRequest, parse_chat_request
from split_server.compat.openai.completion_request import (
    CompletionRequest,
    parse_completion_request,
)
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.options import MAX_TOP_LOGPROBS
from split_server.compat.translating.renaming import renamed

# Those with the same name and meaning in OpenAI's request.
_SAME = ("cache", "cache_salt")
_NO_THINKING = "this model does not think apart from its reply"
# As Go writes one, such as 5m or 1h30m; a number is seconds.
_DURATION: Final = re.compile(r"-?(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+|-?\d{1,12}")

_NOTHING: Final = re.compile(r"0+(?:\.0+)?[a-zµ]*")


@dataclass(frozen=True, slots=True)
class OllamaRequest:
    """``model``: its name as it was sent; ``asked``: the same as a request of OpenAI's API, None
    where only the model was to be loaded, which it is. ``unload``: what was asked for instead.
    """

    model: str
    stream: bool
    asked: ChatRequest | CompletionRequest | None
    unload: bool = False


def parse_ollama_chat(fields: Fields, served: ServedModel) -> OllamaRequest:
    """Raises the errors of ``compat.openai.errors`` and InvalidSamplingParameter, which speak of
    the parameters of this API.
    """
    model, stream, more = _shared(fields, served, CHAT)
    messages = parse_turns(fields)
    if not messages:
        return OllamaRequest(model, stream, None, _unloads(fields))
    chat = more | {"messages": messages, "tools": fields.raw("tools")} | _scored(fields)
    with renamed(RENAMES):
        return OllamaRequest(model, stream, parse_chat_request(Fields(chat), served))


def parse_ollama_generate(fields: Fields, served: ServedModel) -> OllamaRequest:
    """As :func:`parse_ollama_chat`, of one prompt."""
    model, stream, more = _shared(fields, served, GENERATE)
    prompt, system = fields.text("prompt") or "", fields.text("system")
    if not prompt:
        return OllamaRequest(model, stream, None, _unloads(fields))
    if fields.flag("raw"):
        return OllamaRequest(model, stream, _raw(fields, served, more | {"prompt": prompt}))
    messages = [{"role": "user", "content": prompt}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    with renamed(RENAMES):
        chat = Fields(more | {"messages": messages} | _scored(fields))
        return OllamaRequest(model, stream, parse_chat_request(chat, served))


def _raw(fields: Fields, served: ServedModel, more: dict[str, Any]) -> CompletionRequest:
    if "system" in fields:
        raise UnsupportedParameter("system", "a raw prompt has all that the model reads")
    scored = _scored(fields)
    logprobs = (scored["top_logprobs"] or 0) if scored["logprobs"] else None
    with renamed(RENAMES):
        return parse_completion_request(Fields(more | {"logprobs": logprobs}), served)


def _shared(
    fields: Fields, served: ServedModel, known: Accepted
) -> tuple[str, bool, dict[str, Any]]:
    """The model's name, whether the answer is a stream, and fields of OpenAI's request."""
    check_unread(fields, known)
    model, stream = asked_model(fields, served), fields.flag("stream", True)
    _check_keep_alive(fields)
    if fields.raw("think") not in (None, False):
        raise UnsupportedParameter("think", _NO_THINKING)
    more = chat_fields(fields, served)
    more |= {"response_format": _format(fields)}
    more |= {name: fields.raw(name) for name in _SAME}
    return model, stream, more | {"stream": stream}


def _check_keep_alive(fields: Fields) -> None:
    """It has no effect, but what is no duration is a mistake."""
    given = fields.raw("keep_alive")
    if isinstance(given, str):
        if _DURATION.fullmatch(given) is None:
            raise InvalidParameter("keep_alive", "seconds, or a duration such as 5m")
    else:
        fields.number("keep_alive")


def _unloads(fields: Fields) -> bool:
    return _NOTHING.fullmatch(str(fields.raw("keep_alive"))) is not None


def _format(fields: Fields) -> dict[str, Any] | None:
    given = fields.raw("format")
    if given in (None, ""):
        return None
    if given == "json":
        return {"type": "json_object"}
    if not isinstance(given, dict):
        raise InvalidParameter("format", "json, or a JSON schema")
    return {"type": "json_schema", "json_schema": {"schema": given}}


def _scored(fields: Fields) -> dict[str, Any]:
    return {
        "logprobs": fields.flag("logprobs") or None,
        "top_logprobs": fields.whole("top_logprobs", 0, MAX_TOP_LOGPROBS) or None,
    }
