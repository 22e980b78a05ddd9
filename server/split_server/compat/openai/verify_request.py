"""``POST /v1/cache/verify``: prompts with which reuse is checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.compat.accepted.openai import OPENAI
from split_server.compat.openai.completion_request import parse_prompts
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.warm_request import WarmRequest, parse_warm_request

MAX_PROMPTS = 8
_CHAT = frozenset({"prompt", "messages", "tools"})
MAX_TOKENS = 64
DEFAULT_TOKENS = 8


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """``prompts``: none for the set that comes along; ``tokens``: that follow each."""

    prompts: tuple[WarmRequest, ...]
    tokens: int


def parse_verify_request(fields: Fields, served: ServedModel) -> VerifyRequest:
    """Raises InvalidParameter, ModelNotFound."""
    served.check_model(fields)
    tokens = fields.whole("tokens", 1, MAX_TOKENS) or DEFAULT_TOKENS
    given = fields.items("prompts", MAX_PROMPTS)
    check_unread(fields, OPENAI)
    if given is None:
        return VerifyRequest((), tokens)
    # A list of token ids alone would be one prompt.
    if not given or any(isinstance(each, int) for each in given):
        raise InvalidParameter("prompts", f"a list of 1 to {MAX_PROMPTS} prompts")
    prompts = (_prompt(each, f"prompts[{at}]", served) for at, each in enumerate(given))
    return VerifyRequest(tuple(prompts), tokens)


def _prompt(given: Any, at: str, served: ServedModel) -> WarmRequest:
    """A text, a list of ids, or an object with ``prompt`` or ``messages`` as in a warm request."""
    if not isinstance(given, dict):
        return WarmRequest(parse_prompts([given], served)[0], (), None)
    fields = Fields(given, at)
    if fields.names() - _CHAT:
        raise InvalidParameter(at, f"an object with {', '.join(sorted(_CHAT))} alone")
    return parse_warm_request(fields, served)
