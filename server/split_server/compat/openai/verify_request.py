"""``POST /v1/cache/verify``: prompts with which reuse is checked."""

from __future__ import annotations

from dataclasses import dataclass

from split_server.compat.openai.completion_request import PromptText, parse_prompts
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields
from split_server.compat.openai.model import ServedModel

MAX_PROMPTS = 8
MAX_TOKENS = 64
DEFAULT_TOKENS = 8


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """``prompts``: none for the set that comes along; ``tokens``: that follow each."""

    prompts: tuple[PromptText, ...]
    tokens: int


def parse_verify_request(fields: Fields, served: ServedModel) -> VerifyRequest:
    """Raises InvalidParameter, ModelNotFound."""
    served.check_model(fields)
    tokens = fields.whole("tokens", 1, MAX_TOKENS) or DEFAULT_TOKENS
    if "prompts" not in fields:
        return VerifyRequest((), tokens)
    given = fields.items("prompts", MAX_PROMPTS)
    # A list of token ids alone would be one prompt.
    if not given or any(isinstance(each, int) for each in given):
        raise InvalidParameter("prompts", f"a list of 1 to {MAX_PROMPTS} texts or lists of ids")
    return VerifyRequest(parse_prompts(given, served), tokens)
