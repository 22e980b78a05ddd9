"""The fields that chat and plain completions share, beside how tokens are chosen."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.generation.sampling.params import SamplingParams
from split_server.compat.keeping import MAX_GROUP, MAX_SALT, MAX_SHARED, USUAL, Keeping
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, as_text
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.sampling import parse_sampling
from split_wire.tiers import CACHES, cache_asked

MAX_CHOICES = 8
MAX_TOP_LOGPROBS = 20
MAX_STOPS = 16
MAX_STOP = 256
_MAX_TOKENS = 1 << 24
# As documents of OpenAI and its client spell it.
LASTING = "24h"
RETENTIONS = ("in_memory", "in-memory", LASTING)


@dataclass(frozen=True, slots=True)
class Options:
    """``include_usage``: as the last event of a stream; ``keeping``: what becomes of the prompt's
    keys and values.
    """

    params: SamplingParams
    choices: int
    max_tokens: int
    stops: tuple[str, ...]
    stream: bool
    include_usage: bool
    keeping: Keeping = USUAL

    def reply_tokens(self, prompt_tokens: int, max_context: int) -> int:
        """The most tokens that the reply may have: at most what the context leaves, at least 1."""
        room = max_context + 1 - prompt_tokens
        return max(1, min(self.max_tokens, room))


def parse_options(fields: Fields, served: ServedModel, default_tokens: int) -> Options:
    """``default_tokens``: the longest reply where ``fields`` name none.

    Raises ModelNotFound, InvalidParameter, InvalidSamplingParameter."""
    served.check_model(fields)
    stream = fields.flag("stream")
    return Options(
        parse_sampling(fields, served.vocab_size, served.defaults),
        fields.whole("n", 1, MAX_CHOICES) or 1,
        _max_tokens(fields) or default_tokens,
        _stops(fields),
        stream,
        _include_usage(fields, stream),
        _keeping(fields),
    )


def _keeping(fields: Fields) -> Keeping:
    return Keeping(
        fields.text("cache_salt", MAX_SALT),
        _to_disk(fields),
        fields.text("cache_group", MAX_GROUP),
        fields.whole("share_until", 0, MAX_SHARED) or 0,
        cache_asked(fields.choice("cache", CACHES)),
    )


def _to_disk(fields: Fields) -> bool:
    # What is kept of a principal is found whatever key a request names.
    fields.text("prompt_cache_key")
    return fields.choice("prompt_cache_retention", RETENTIONS) in (None, LASTING)


def _max_tokens(fields: Fields) -> int | None:
    newer = fields.whole("max_completion_tokens", 1, _MAX_TOKENS)
    older = fields.whole("max_tokens", 1, _MAX_TOKENS)
    return older if newer is None else newer


def _stops(fields: Fields) -> tuple[str, ...]:
    given = fields.raw("stop")
    if isinstance(given, str):
        given = [given]
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MAX_STOPS:
        raise InvalidParameter("stop", f"a string or a list of at most {MAX_STOPS} strings")
    return tuple(as_text(stop, f"stop[{index}]", MAX_STOP) for index, stop in enumerate(given))


def _include_usage(fields: Fields, stream: bool) -> bool:
    options = fields.inner("stream_options")
    if options is None:
        return False
    if not stream:
        raise InvalidParameter("stream_options", "left out unless stream is true")
    return options.flag("include_usage")
