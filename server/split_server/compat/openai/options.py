"""The fields that chat and plain completions share, beside how tokens are chosen."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.generation.sampling.params import SamplingParams
from split_server.compat.accepted.openai import STREAM
from split_server.compat.keeping import MAX_GROUP, MAX_SALT, MAX_SHARED, USUAL, Keeping
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, as_text, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.sampling import parse_sampling
from split_wire.tiers import CACHES, cache_asked

MAX_CHOICES = 8
MAX_TOP_LOGPROBS = 20
MAX_STOPS = 128
MAX_STOP = 256
MAX_STOP_TOKENS = 128
_MAX_TOKENS = 1 << 24
# By the names that several clients have for each; the first that is given counts.
_LIMITS = ("max_completion_tokens", "max_tokens", "max_new_tokens", "n_predict", "num_predict")
_STOPS = ("stop", "stopping_strings")
# As much as the context leaves.
_NO_LIMIT = -1
# As documents of OpenAI and its client spell it.
LASTING = "24h"
RETENTIONS = ("in_memory", "in-memory", LASTING)


@dataclass(frozen=True, slots=True)
class Options:
    """``include_usage``: as the last event of a stream; ``keeping``: what becomes of the prompt's
    keys and values. ``stop_tokens`` end the reply beside the model's own end tokens, which
    ``ignore_eos`` takes out; none of either ends it before ``min_tokens``.
    """

    params: SamplingParams
    choices: int
    max_tokens: int
    stops: tuple[str, ...]
    stream: bool
    include_usage: bool
    keeping: Keeping = USUAL
    min_tokens: int = 0
    ignore_eos: bool = False
    stop_tokens: frozenset[int] = frozenset()

    def reply_tokens(self, prompt_tokens: int, max_context: int) -> int:
        """The most tokens that the reply may have: at most what the context leaves, at least 1."""
        room = max_context + 1 - prompt_tokens
        return max(1, min(self.max_tokens, room))


def parse_options(
    fields: Fields, served: ServedModel, default_tokens: int, least: int = 1
) -> Options:
    """``default_tokens``: the longest reply where ``fields`` name none; ``least``: the shortest
    that they may ask for.

    Raises ModelNotFound, InvalidParameter, InvalidSamplingParameter."""
    served.check_model(fields)
    stream, limit = fields.flag("stream"), _max_tokens(fields, least)
    return Options(
        parse_sampling(fields, served.vocab_size, served.defaults),
        fields.whole("n", 1, MAX_CHOICES) or 1,
        default_tokens if limit is None else limit,
        _stops(fields),
        stream,
        _include_usage(fields, stream),
        _keeping(fields),
        fields.whole("min_tokens", 0, _MAX_TOKENS) or 0,
        fields.flag("ignore_eos"),
        _stop_tokens(fields, served.vocab_size),
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


def _max_tokens(fields: Fields, least: int) -> int | None:
    given = [fields.whole(name, _NO_LIMIT, _MAX_TOKENS) for name in _LIMITS]
    for name, value in zip(_LIMITS, given, strict=True):
        if value == 0 and least:
            raise InvalidParameter(name, f"a whole number in 1..{_MAX_TOKENS}, or -1 for no limit")
        if value is not None:
            return _MAX_TOKENS if value == _NO_LIMIT else value
    return None


def _stops(fields: Fields) -> tuple[str, ...]:
    """Front-ends that know several servers send both names, with the same texts."""
    given = [_texts(fields, name) for name in _STOPS]
    return next((stops for stops in given if stops), ())


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    given = fields.raw(name)
    if isinstance(given, str):
        given = [given]
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MAX_STOPS:
        raise InvalidParameter(name, f"a string or a list of at most {MAX_STOPS} strings")
    return tuple(as_text(stop, f"{name}[{index}]", MAX_STOP) for index, stop in enumerate(given))


def _stop_tokens(fields: Fields, vocab_size: int) -> frozenset[int]:
    given = fields.items("stop_token_ids", MAX_STOP_TOKENS) or []
    if not all(type(token) is int and 0 <= token < vocab_size for token in given):
        raise InvalidParameter("stop_token_ids", f"token ids below {vocab_size}")
    return frozenset(given)


def _include_usage(fields: Fields, stream: bool) -> bool:
    """Without a stream there is no last event, and the answer has the usage whatever is asked."""
    options = fields.inner("stream_options")
    if options is None:
        return False
    wanted = options.flag("include_usage")
    check_unread(options, STREAM)
    return wanted and stream
