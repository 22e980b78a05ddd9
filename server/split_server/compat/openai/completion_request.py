"""``POST /v1/completions``: what is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.compat.accepted.openai import OPENAI
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.options import MAX_TOP_LOGPROBS, Options, parse_options
from split_server.compat.openai.prompts.texts import PromptText, parse_texts
from split_server.compat.openai.response_format import AskedForm, parse_form

# OpenAI's own, which its clients count on where they name none.
DEFAULT_TOKENS = 16
MAX_PROMPTS = 32
MAX_REPLIES = 64
# Tokens of prompts that are scored at once, each with its most likely ones: so many entries.
MAX_SCORES = 1 << 18


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """``prompts``: texts or token ids; ``echo``: the text begins with the prompt's; ``special``:
    the tokenizer adds what a text begins with.
    """

    options: Options
    prompts: tuple[PromptText, ...]
    logprobs: int | None
    echo: bool
    form: AskedForm | None
    special: bool = True

    @property
    def scores_prompts(self) -> bool:
        """Whether the tokens of the prompts are told with their log-probabilities."""
        return self.echo and self.logprobs is not None

    def check_scores(self, tokens: int) -> None:
        """Of prompts with so many ``tokens`` in all. Raises InvalidParameter."""
        most = MAX_SCORES // ((self.logprobs or 0) + 1)
        if self.scores_prompts and tokens > most:
            raise InvalidParameter("prompt", f"at most {most} tokens in all with these logprobs")


def parse_completion_request(fields: Fields, served: ServedModel) -> CompletionRequest:
    """Raises the errors of ``compat.openai.errors`` and InvalidSamplingParameter."""
    if fields.text("suffix"):
        raise UnsupportedParameter("suffix", "text is written at the end only")
    echo = fields.flag("echo")
    options = parse_options(fields, served, DEFAULT_TOKENS, least=0 if echo else 1)
    if fields.whole("best_of", 1, 64) not in (None, options.choices):
        raise UnsupportedParameter("best_of", "every one of the n replies is returned")
    logprobs = _logprobs(fields)
    prompts = parse_prompts(fields.raw("prompt"), served)
    if len(prompts) * options.choices > MAX_REPLIES:
        raise InvalidParameter("n", f"so small that prompts times n is at most {MAX_REPLIES}")
    form, special = parse_form(fields), _special(fields)
    check_unread(fields, OPENAI)
    return CompletionRequest(options, prompts, logprobs, echo, form, special)


def _logprobs(fields: Fields) -> int | None:
    """Also by llama.cpp's name, where 0 is none."""
    named = fields.whole("n_probs", 0, MAX_TOP_LOGPROBS) or None
    asked = fields.whole("logprobs", 0, MAX_TOP_LOGPROBS)
    return named if asked is None else asked


def _special(fields: Fields) -> bool:
    """Also by the name that text-generation-webui has for it."""
    return fields.flag("add_special_tokens", fields.flag("add_bos_token", True))


def parse_prompts(value: Any, served: ServedModel) -> tuple[PromptText, ...]:
    """The field ``prompt``, in order. Raises InvalidParameter."""
    return parse_texts(value, "prompt", served, MAX_PROMPTS)
