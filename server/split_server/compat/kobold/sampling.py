"""The sampling fields of a request, in both spellings, over the model's own defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from split_client.generation.sampling.params import MAX_BIASED_TOKENS, SamplingParams
from split_server.compat.kobold.errors import InvalidParameter, InvalidToken
from split_server.compat.kobold.fields import Fields, is_number

_LARGEST_SEED = 2**64 - 1
# Fields of SamplingParams by their spellings in a request.
_NUMBERS = {
    "temperature": ("temperature",),
    "top_p": ("top_p",),
    "top_k": ("top_k",),
    "min_p": ("min_p",),
    "repetition_penalty": ("repetition_penalty", "rep_pen"),
    "presence_penalty": ("presence_penalty",),
    "frequency_penalty": ("frequency_penalty",),
}


def sampling_params(
    fields: Fields, defaults: SamplingParams, vocab_size: int, eos: frozenset[int]
) -> SamplingParams:
    """The sampling parameters that the fields ask for.

    Raises InvalidParameter, InvalidToken, InvalidSamplingParameter.
    """
    named: dict[str, Any] = {
        name: value
        for name, spellings in _NUMBERS.items()
        if (value := fields.number(*spellings)) is not None
    }
    if fields.flag("do_sample") is False:
        named["temperature"] = 0.0
    # -1 is all of them, as 0 is.
    reach = fields.whole(-1, 2**31 - 1, "rep_pen_range")
    if reach is not None:
        named["repetition_range"] = max(reach, 0)
    banned = frozenset(fields.tokens(vocab_size, vocab_size, "banned_tokens"))
    if fields.flag("ban_eos_token", "use_default_badwordsids"):
        banned |= eos
    seed = fields.whole(-1, _LARGEST_SEED, "sampler_seed", "seed")
    return replace(
        defaults,
        **named,
        seed=None if seed == -1 else seed,
        banned=banned,
        logit_bias=_bias(fields, vocab_size),
    )


def _bias(fields: Fields, vocab_size: int) -> dict[int, float]:
    value = fields.value("logit_bias")
    allowed = f"an object of at most {MAX_BIASED_TOKENS} token ids with a number each"
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > MAX_BIASED_TOKENS:
        raise InvalidParameter("logit_bias", allowed)
    bias: dict[int, float] = {}
    for key, weight in value.items():
        known = key.isascii() and key.isdigit() and len(key) <= 10
        if not (known and is_number(weight)):
            raise InvalidParameter("logit_bias", allowed)
        if int(key) >= vocab_size:
            raise InvalidToken(int(key), vocab_size)
        bias[int(key)] = weight
    return bias
