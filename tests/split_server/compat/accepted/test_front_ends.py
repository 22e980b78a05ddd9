"""Whole requests of front-ends that know several servers, where nobody has set anything."""

from __future__ import annotations

from typing import Any

import pytest

from tests.split_server.compat.openai.requests import completion

# Of SillyTavern 1.19.0; forms add to it. What the programs of `tests/clients` send is its own.
COMMON: dict[str, Any] = {
    "adaptive_decay": 0.9, "adaptive_target": -0.01, "add_bos_token": True,
    "api_server": "http://x", "api_type": "ooba", "ban_eos_token": False, "banned_strings": [],
    "custom_token_bans": "", "dry_allowed_length": 2, "dry_base": 1.75, "dry_multiplier": 0,
    "dry_penalty_last_n": 0, "dry_sequence_breakers": '["x"]', "frequency_penalty": 0,
    "include_reasoning": True, "max_new_tokens": 8, "max_tokens": 8, "max_tokens_second": 0,
    "min_keep": 0, "min_p": 0, "min_tokens": 0, "mirostat_eta": 0.1, "mirostat_mode": 0,
    "mirostat_tau": 5, "model": "gatelink", "nsigma": 0, "presence_penalty": 0,
    "repetition_penalty": 1.2, "skew": 0, "skip_special_tokens": True, "smoothing_curve": 1,
    "smoothing_factor": 0, "stop": ["x"], "stopping_strings": ["x"], "temperature": 0.7, "tfs": 1,
    "top_a": 0, "top_k": 40, "top_n_sigma": 0, "top_p": 0.5, "truncation_length": 2048,
    "typical": 1, "typical_p": 1, "xtc_probability": 0, "xtc_threshold": 0.1,
}  # fmt: skip
OTHERS: dict[str, Any] = {
    "guidance_scale": 1, "ignore_eos": False, "mirostat": 0, "n_predict": 8,
    "negative_prompt": "", "num_ctx": 2048, "num_predict": 8, "rep_pen": 1.2, "rep_pen_range": 0,
    "rep_pen_slope": 1, "repeat_last_n": 0, "repeat_penalty": 1.2, "repetition_penalty_range": 0,
}  # fmt: skip
FORMS: dict[str, dict[str, Any]] = {
    "ooba": OTHERS | {"do_sample": True, "early_stopping": False, "encoder_repetition_penalty": 1},
    "koboldcpp": OTHERS | {"sampler_order": [6, 0, 1], "trim_stop": True},
    "tabby": OTHERS | {"n": 1, "repetition_decay": 0, "speculative_ngram": False},
    "vllm": {"ignore_eos": False, "n": 1, "spaces_between_special_tokens": True},
    "llama.cpp": OTHERS | {"cache_prompt": True, "logit_bias": [], "samplers": ["top_k"]},
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_form_sends_by_default_is_taken(form: str) -> None:
    options = completion(**COMMON, **FORMS[form]).options
    assert (options.params.repetition_penalty, options.params.repetition_range) == (1.2, 0)
    assert (options.params.seed, options.max_tokens, options.stops) == (None, 8, ("x",))


@pytest.mark.parametrize("form", FORMS)
def test_what_it_sends_with_a_seed_and_probabilities_is_too(form: str) -> None:
    asked = {"seed": 7, "sampler_seed": 7, "n_probs": 10, "logprobs": 10}
    request = completion(**COMMON, **FORMS[form], **asked)
    assert (request.options.params.seed, request.logprobs) == (7, 10)


def test_probabilities_may_come_by_the_name_of_llama_cpp_alone() -> None:
    assert completion(n_probs=3).logprobs == 3
    assert completion(n_probs=0).logprobs is None
