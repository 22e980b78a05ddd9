import math
from typing import Any

import pytest

from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.sampling.params import MAX_BIASED_TOKENS, SamplingParams


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("temperature", -0.1, "in 0..100"),
        ("temperature", math.nan, "in 0..100"),
        ("temperature", math.inf, "in 0..100"),
        ("temperature", "1", "in 0..100"),
        ("temperature", True, "in 0..100"),
        ("top_k", -1, "a whole number"),
        ("top_k", 2.0, "a whole number"),
        ("top_k", True, "a whole number"),
        ("top_p", 0.0, "above 0"),
        ("top_p", 1.01, "at most 1"),
        ("min_p", -0.1, "in 0..1"),
        ("min_p", 1.5, "in 0..1"),
        ("repetition_penalty", 0.0, r"in 0\.01\.\.100"),
        ("presence_penalty", 2.5, r"in -2\.\.2"),
        ("frequency_penalty", -2.5, r"in -2\.\.2"),
        ("seed", -1, r"in 0\.\.2\^64-1"),
        ("seed", 2**64, r"in 0\.\.2\^64-1"),
        ("seed", 1.0, r"in 0\.\.2\^64-1"),
        ("logit_bias", {1: 101.0}, r"in -100\.\.100"),
        ("logit_bias", {1: math.nan}, r"in -100\.\.100"),
        ("logit_bias", {"1": 1.0}, "token ids"),
        ("logit_bias", {-1: 1.0}, "token ids"),
        ("logit_bias", [1], "token ids"),
        ("banned", [1], "a set of token ids"),
        ("banned", {-1}, "a set of token ids"),
        ("banned", {"1"}, "a set of token ids"),
        ("banned", {True}, "a set of token ids"),
        ("logit_bias", dict.fromkeys(range(MAX_BIASED_TOKENS + 1), 1.0), "at most 1024"),
    ],
)
def test_a_value_outside_its_range_is_refused_with_field_and_range(
    field: str, value: Any, allowed: str
) -> None:
    with pytest.raises(InvalidSamplingParameter, match=allowed) as refusal:
        SamplingParams(**{field: value})
    assert refusal.value.field == field
    assert refusal.value.code == "invalid_sampling_parameter"


@pytest.mark.parametrize(
    "values",
    [
        {"temperature": 0, "top_p": 1, "min_p": 0},
        {"temperature": 100, "top_k": 10**9, "top_p": 1e-9, "min_p": 1},
        {"seed": 0},
        {"seed": 2**64 - 1},
        {"banned": frozenset(range(100_000))},
        {"logit_bias": {0: -100, 5: 100.0}, "presence_penalty": -2, "frequency_penalty": 2},
    ],
)
def test_the_ends_of_every_range_are_allowed(values: dict[str, Any]) -> None:
    params = SamplingParams(**values)
    assert {name: getattr(params, name) for name in values} == values


def test_a_bias_changed_later_changes_nothing() -> None:
    bias = {1: 2.0}
    params = SamplingParams(logit_bias=bias)
    bias[1] = math.nan
    assert params.logit_bias == {1: 2.0}
    assert params == SamplingParams(logit_bias={1: 2.0})
    assert isinstance(hash(params), int)
