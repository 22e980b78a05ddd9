"""Sampling parameters from the fields that chat and plain completions share."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from split_client.generation.sampling.params import MAX_BIASED_TOKENS, SamplingParams
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, as_number

# OpenAI's; the sampler itself takes more.
MAX_TEMPERATURE = 2
_SEEDS = 1 << 64
_NAMED = ("temperature", "top_p", "min_p", "repetition_penalty")
_PENALTIES = ("presence_penalty", "frequency_penalty")
# What llama.cpp and Kobold call the repetition penalty.
_REPETITION = ("repeat_penalty", "rep_pen")
_RANGES = ("repetition_penalty_range", "rep_pen_range", "repeat_last_n", "penalty_last_n")
# There 0 switches the penalty off, but for front-ends that send every name of the range.
_NO_RANGE = ("repeat_last_n", "penalty_last_n")
_SEED_NAMES = ("seed", "sampler_seed")
# As several clients write "any".
_RANDOM = -1
_MAX_TOP_K = 2**31 - 1
# OpenAI: a bias of -100 bans a token.
_BAN = -100.0
# The smallest share that still keeps the most likely token, and nothing else.
_ONLY_FIRST = 1e-12


def parse_sampling(fields: Fields, vocab_size: int, defaults: SamplingParams) -> SamplingParams:
    """The sampling parameters that ``fields`` ask for.

    Without a temperature, whatever is not given is what the model's makers recommend
    (``defaults``); with one, it is off. Raises InvalidParameter, InvalidSamplingParameter.
    """
    base = SamplingParams() if "temperature" in fields else defaults
    given: dict[str, Any] = {name: fields.number(name) for name in (*_NAMED, *_PENALTIES)}
    for name in _REPETITION:
        other = fields.number(name)
        if given["repetition_penalty"] is None:
            given["repetition_penalty"] = other
    if (given["temperature"] or 0) > MAX_TEMPERATURE:
        raise InvalidParameter("temperature", f"a number in 0..{MAX_TEMPERATURE}")
    given["top_k"] = fields.whole("top_k", -1, _MAX_TOP_K)
    if given["top_k"] == -1:
        given["top_k"] = 0
    if given["top_p"] == 0:
        given["top_p"] = _ONLY_FIRST
    given["seed"] = _seed(fields)
    given["repetition_range"] = _repetition_range(fields)
    bias = _bias(fields, vocab_size)
    return replace(
        base,
        logit_bias={token: value for token, value in bias.items() if value > _BAN},
        banned=frozenset(token for token, value in bias.items() if value <= _BAN),
        **{name: value for name, value in given.items() if value is not None},
    )


def _seed(fields: Fields) -> int | None:
    """None for any; the first that is given counts."""
    seeds = [fields.whole(name, -(_SEEDS // 2), _SEEDS - 1) for name in _SEED_NAMES]
    seed = next((seed for seed in seeds if seed is not None), _RANDOM)
    return None if seed == _RANDOM else seed % _SEEDS


def _repetition_range(fields: Fields) -> int | None:
    """The last tokens that are looked at; -1, and but for llama.cpp 0, are all."""
    found: int | None = None
    for name in _RANGES:
        value = fields.whole(name, -1, _MAX_TOP_K)
        if value == 0 and name in _NO_RANGE and found is None and _penalised(fields):
            raise InvalidParameter(name, "-1 for all tokens, or from 1")
        found = value if found is None else found
    return None if found is None else max(found, 0)


def _penalised(fields: Fields) -> bool:
    return any(
        fields.number(name) not in (None, 1) for name in ("repetition_penalty", *_REPETITION)
    )


def for_choice(params: SamplingParams, index: int) -> SamplingParams:
    """``params`` for one of several choices: the first has the seed itself, the others have seeds
    that follow from it.
    """
    if params.seed is None or index == 0:
        return params
    digest = sha256(b"%d choice %d" % (params.seed, index)).digest()
    return replace(params, seed=int.from_bytes(digest[:8], "big"))


def _bias(fields: Fields, vocab_size: int) -> dict[int, float]:
    """Token id to bias, in -100..100."""
    given = fields.raw("logit_bias")
    wanted = f"an object of at most {MAX_BIASED_TOKENS} token ids with a number in -100..100 each"
    # llama.cpp's clients send a list, which is empty where nothing is biased.
    if given is None or given == []:
        return {}
    if not isinstance(given, dict) or len(given) > MAX_BIASED_TOKENS:
        raise InvalidParameter("logit_bias", wanted)
    bias: dict[int, float] = {}
    for key, value in given.items():
        is_id = key.isascii() and key.isdigit() and len(key) <= len(str(vocab_size))
        if not is_id or int(key) >= vocab_size:
            raise InvalidParameter("logit_bias", f"{wanted}; token ids are below {vocab_size}")
        bias[int(key)] = as_number(value, "logit_bias")
        if abs(bias[int(key)]) > -_BAN:
            raise InvalidParameter("logit_bias", wanted)
    return bias
