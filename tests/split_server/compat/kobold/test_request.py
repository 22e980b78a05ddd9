"""Generations as clients ask for them, in both spellings."""

from __future__ import annotations

from typing import Any

import pytest

from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.sampling.params import SamplingParams
from split_client.grammar.form import Gbnf, Lark
from split_server.compat.kobold.errors import InvalidParameter, InvalidRequest, InvalidToken
from split_server.compat.kobold.request import (
    DEFAULT_MAX_TOKENS,
    Defaults,
    KoboldRequest,
    kobold_request,
)
from split_server.engine.model.info import ModelInfo

INFO = ModelInfo("model", "qwen2", 64, 320, 3, 4, 512, "f32", (2, 0), 768)
OWN = SamplingParams(temperature=0.7, top_k=20)


def parsed(**fields: Any) -> KoboldRequest:
    return kobold_request({"input_ids": [1, 2, 3]} | fields, INFO, Defaults(OWN))


def test_both_spellings_mean_the_same() -> None:
    new = parsed(
        max_new_tokens=9,
        repetition_penalty=1.2,
        ignore_eos=True,
        return_attention=True,
        stop="x",
        seed=5,
    )
    classic = parsed(
        max_length=9,
        rep_pen=1.2,
        bypass_eos=True,
        output_attentions=True,
        stop_sequence=["x"],
        sampler_seed=5,
    )
    assert new == classic
    assert (new.max_tokens, new.stops, new.ignore_eos) == (9, ("x",), True)
    assert (new.params.repetition_penalty, new.params.seed) == (1.2, 5)
    assert new.attention is not None


def test_what_is_left_out_is_the_model_s_own_and_unknown_fields_are_ignored() -> None:
    request = parsed(mirostat=0, whatever=300, temperature=None)
    assert request.params == OWN
    assert request.max_tokens == DEFAULT_MAX_TOKENS
    assert request.attention is None
    assert request.logprobs is None


@pytest.mark.parametrize("fields", [{"temperature": 0}, {"do_sample": False, "temperature": 1.5}])
def test_temperature_zero_and_no_sampling_are_greedy(fields: dict[str, Any]) -> None:
    assert parsed(**fields).params.temperature == 0


def test_a_seed_of_minus_one_is_random_and_a_given_one_counts_up_by_sample() -> None:
    assert parsed(sampler_seed=-1).generation((1,), 3).params.seed is None
    last = 2**64 - 1
    seeds = [parsed(seed=last, num_samples=3).generation((1,), k).params.seed for k in range(3)]
    assert seeds == [last, 0, 1]


def test_a_reply_is_never_longer_than_the_context() -> None:
    assert parsed(max_length=2**31 - 1).max_tokens == INFO.max_context


def test_banned_tokens_and_a_banned_end_come_together() -> None:
    assert parsed(banned_tokens=[5, 6]).params.banned == {5, 6}
    assert parsed(banned_tokens=[5], ban_eos_token=True).params.banned == {0, 2, 5}
    assert parsed(logit_bias={"7": -3}).params.logit_bias == {7: -3}


@pytest.mark.parametrize(
    ("fields", "default", "wanted"),
    [
        ({}, None, None),
        ({}, 5, 5),
        ({"logprobs": 3}, 5, 3),
        ({"logprobs": 0}, 5, 0),
        ({"top_logprobs": 2}, None, 2),
        ({"logprobs": True}, None, 5),
        ({"logprobs": True, "top_logprobs": 7}, None, 7),
        ({"logprobs": False}, 5, None),
        ({"logprobs": False, "top_logprobs": 7}, 5, None),
    ],
)
def test_how_many_log_probabilities_are_told(
    fields: dict[str, Any], default: int | None, wanted: int | None
) -> None:
    values = {"input_ids": [1]} | fields
    assert kobold_request(values, INFO, Defaults(OWN, logprobs=default)).logprobs == wanted


def test_text_comes_after_its_memory_and_ids_win_over_text() -> None:
    assert parsed(input_ids=None, prompt="b", memory="a").prompt == "ab"
    assert parsed(prompt="b").prompt == (1, 2, 3)
    assert parsed(input_ids=None, prompt="b", add_bos_token=False).special is False


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"input_ids": None}, InvalidRequest),
        ({"input_ids": [320]}, InvalidToken),
        ({"banned_tokens": [320]}, InvalidToken),
        ({"stop_tokens": [-1]}, InvalidToken),
        ({"logit_bias": {"320": 1}}, InvalidToken),
        ({"logit_bias": {"one": 1}}, InvalidParameter),
        ({"logit_bias": {"1": "one"}}, InvalidParameter),
        ({"logit_bias": {"1": 10**400}}, InvalidParameter),
        ({"logit_bias": {"1": 101}}, InvalidSamplingParameter),
        ({"temperature": 10**400}, InvalidParameter),
        ({"temperature": -(10**400)}, InvalidParameter),
        ({"logit_bias": [1]}, InvalidParameter),
        ({"max_length": 0}, InvalidParameter),
        ({"num_samples": 9}, InvalidParameter),
        ({"logprobs": 21}, InvalidParameter),
        ({"temperature": "hot"}, InvalidParameter),
        ({"temperature": -1}, InvalidSamplingParameter),
        ({"top_p": 0}, InvalidSamplingParameter),
        ({"top_k": 1.5}, InvalidSamplingParameter),
        ({"seed": 2**64}, InvalidParameter),
        ({"return_attention": 1}, InvalidParameter),
        ({"return_attention": True, "attention_format": "raw"}, InvalidParameter),
        ({"return_attention": True, "attention_top_k": 0}, InvalidParameter),
        ({"return_attention": True, "attention_dtype": "int8"}, InvalidParameter),
        ({"request_id": 5}, InvalidParameter),
        ({"stop_sequence": [5]}, InvalidParameter),
    ],
)
def test_what_is_wrong_is_refused_before_anything_runs(
    fields: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        parsed(**fields)


def test_a_grammar_is_read_by_its_content_and_an_empty_one_is_none() -> None:
    assert parsed(grammar='root ::= "a"').form == Gbnf('root ::= "a"')
    assert parsed(grammar='start: "a"').form == Lark('start: "a"')
    assert parsed(grammar="").form is None
    with pytest.raises(InvalidParameter, match="grammar"):
        parsed(grammar=3)
