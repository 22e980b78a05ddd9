from __future__ import annotations

import pytest

from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.sampling.params import SamplingParams
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.sampling import for_choice
from tests.split_server.compat.openai.requests import MAKERS, chat, completion


@pytest.mark.parametrize("ask", [chat, completion])
def test_without_a_temperature_the_makers_defaults_hold(ask: object) -> None:
    assert ask().options.params == MAKERS  # type: ignore[operator]
    changed = ask(top_p=0.5, seed=3).options.params  # type: ignore[operator]
    assert (changed.temperature, changed.top_k, changed.top_p, changed.seed) == (0.7, 20, 0.5, 3)


def test_with_a_temperature_nothing_is_on_that_was_not_asked_for() -> None:
    assert chat(temperature=0).options.params == SamplingParams()
    assert chat(temperature=1.5).options.params == SamplingParams(temperature=1.5)


@pytest.mark.parametrize("ask", [chat, completion])
def test_a_temperature_above_2_is_refused_as_openai_does(ask: object) -> None:
    assert ask(temperature=2).options.params.temperature == 2  # type: ignore[operator]
    with pytest.raises(InvalidParameter, match=r"0\.\.2") as caught:
        ask(temperature=2.01)  # type: ignore[operator]
    assert caught.value.param == "temperature"


def test_every_parameter_reaches_the_sampler() -> None:
    params = chat(
        temperature=1,
        top_p=0.9,
        top_k=5,
        min_p=0.1,
        repetition_penalty=1.2,
        presence_penalty=0.5,
        frequency_penalty=-0.5,
        seed=7,
        logit_bias={"3": 2, "4": -1.5},
    ).options.params
    assert params == SamplingParams(
        1.0, 5, 0.9, 0.1, 1.2, 0.5, -0.5, 7, logit_bias={3: 2.0, 4: -1.5}
    )


def test_a_bias_of_minus_100_bans_a_token() -> None:
    params = chat(logit_bias={"3": -100, "4": 100, "5": -99.9}).options.params
    assert params.banned == {3}
    assert dict(params.logit_bias) == {4: 100.0, 5: -99.9}


@pytest.mark.parametrize(
    "bias",
    [[1], {"x": 1}, {"-1": 1}, {"300": 1}, {"1": 101}, {"1": "a"}, {"1": True}, {"²": 1}],
)
def test_a_bias_of_another_form_is_refused(bias: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        chat(logit_bias=bias)
    assert caught.value.param == "logit_bias"


def test_too_many_biases_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="at most 1024"):
        chat(logit_bias={str(token): 1 for token in range(1025)})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -1),
        ("top_p", 1.5),
        ("min_p", 2),
        ("repetition_penalty", 0),
        ("presence_penalty", 2.1),
        ("frequency_penalty", -3),
    ],
)
def test_a_value_outside_its_range_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InvalidSamplingParameter) as caught:
        chat(**{name: value})
    assert caught.value.field == name


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed", "top_k", "presence_penalty"])
@pytest.mark.parametrize("value", ["1", True, [], {}])
def test_a_value_of_another_type_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        chat(**{name: value})
    assert caught.value.param == name


def test_spellings_that_clients_use_for_off_and_for_the_first_alone() -> None:
    params = chat(temperature=1, top_k=-1, top_p=0).options.params
    assert params.top_k == 0
    assert 0 < params.top_p < 1e-6


def test_a_negative_seed_is_one_of_the_64_bit_seeds_but_for_one_that_means_any() -> None:
    assert chat(seed=-2).options.params.seed == 2**64 - 2
    assert chat(seed=-1).options.params.seed is None


@pytest.mark.parametrize("name", ["repetition_penalty", "repeat_penalty", "rep_pen"])
def test_the_repetition_penalty_is_known_by_the_names_of_several_clients(name: str) -> None:
    assert chat(**{name: 1.3}).options.params.repetition_penalty == 1.3


@pytest.mark.parametrize("name", ["repetition_penalty_range", "rep_pen_range", "repeat_last_n"])
def test_the_repetition_penalty_may_look_at_the_last_tokens_alone(name: str) -> None:
    assert chat(**{name: 64}).options.params.repetition_range == 64
    assert chat(**{name: -1}).options.params.repetition_range == 0
    assert chat(**{name: 0}).options.params.repetition_range == 0


def test_a_range_that_switches_a_penalty_off_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="repeat_last_n"):
        chat(repeat_last_n=0, repeat_penalty=1.1)


def test_front_ends_that_send_every_name_of_the_range_mean_all_by_zero() -> None:
    ranges = {"rep_pen_range": 0, "repetition_penalty_range": 0, "repeat_last_n": 0}
    params = chat(repeat_penalty=1.1, **ranges).options.params
    assert (params.repetition_penalty, params.repetition_range) == (1.1, 0)


def test_the_seed_is_known_by_two_names_of_which_the_first_counts() -> None:
    assert chat(sampler_seed=5).options.params.seed == 5
    assert chat(seed=4, sampler_seed=5).options.params.seed == 4
    assert chat(sampler_seed=-1).options.params.seed is None


def test_an_empty_list_of_biases_is_none() -> None:
    assert chat(logit_bias=[]).options.params == chat().options.params


def test_choices_have_seeds_of_their_own_that_follow_from_the_seed() -> None:
    params = SamplingParams(temperature=1.0, seed=11)
    seeds = [for_choice(params, index).seed for index in range(8)]
    assert seeds[0] == 11
    assert len(set(seeds)) == 8
    assert seeds == [for_choice(params, index).seed for index in range(8)]
    assert for_choice(SamplingParams(), 3).seed is None
