"""``POST /v1/warm``: the beginning of a later request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.compat.accepted.openai import OPENAI
from split_server.compat.keeping import MAX_SALT
from split_server.compat.openai.completion_request import parse_prompts
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.prompts.messages import parse_messages
from split_server.compat.openai.prompts.texts import PromptText
from split_server.compat.openai.tools import Tools, parse_tools

MAX_PIN_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class WarmRequest:
    """``prompt`` of a plain completion, or ``messages`` and ``tools`` of a chat.

    ``salt``: that of the requests that it is for; ``pin_seconds``: for which it stays though nobody
    uses it, 0 for as long as anything else.
    """

    prompt: PromptText | None
    messages: tuple[dict[str, Any], ...]
    tools: Tools | None
    salt: str | None = None
    pin_seconds: int = 0


def parse_warm_request(fields: Fields, served: ServedModel) -> WarmRequest:
    """Raises InvalidParameter, UnsupportedParameter, ModelNotFound."""
    asked = _parsed(fields, served)
    check_unread(fields, OPENAI)
    return asked


def _parsed(fields: Fields, served: ServedModel) -> WarmRequest:
    served.check_model(fields)
    if ("prompt" in fields) == ("messages" in fields):
        raise InvalidParameter("prompt", "given, or messages, but not both")
    salt = fields.text("cache_salt", MAX_SALT)
    seconds = fields.whole("pin_seconds", 0, MAX_PIN_SECONDS) or 0
    if "messages" in fields:
        return WarmRequest(None, parse_messages(fields), parse_tools(fields), salt, seconds)
    prompts = parse_prompts(fields.raw("prompt"), served)
    if len(prompts) != 1:
        raise InvalidParameter("prompt", "one text or one list of token ids")
    return WarmRequest(prompts[0], (), None, salt, seconds)
