from __future__ import annotations

import pytest

from split_client.config.reply import ReplyConfig
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.sampling.params import SamplingParams
from split_client.terminal.sampling import SettingInvalid, changed, read_bias, sampling_from, whole

DEFAULTS = SamplingParams(temperature=0.7, top_k=20)


def test_what_is_not_given_is_the_models_own() -> None:
    assert sampling_from(ReplyConfig(), DEFAULTS) == DEFAULTS


def test_what_is_given_wins() -> None:
    config = ReplyConfig(temperature=0.0, seed=7, logit_bias=("5=-1.5", "9=2"))
    params = sampling_from(config, DEFAULTS)
    assert (params.temperature, params.seed, params.top_k) == (0.0, 7, 20)
    assert params.logit_bias == {5: -1.5, 9: 2.0}


@pytest.mark.parametrize("entry", ["5", "a=1", "5=b", "=", "1=2=3"])
def test_a_bias_that_cannot_be_read_is_refused(entry: str) -> None:
    with pytest.raises(SettingInvalid, match="TOKEN_ID=NUMBER"):
        read_bias([entry])


def test_single_settings_are_changed_by_hand() -> None:
    params = changed(DEFAULTS, "top_p", "0.9")
    params = changed(params, "seed", "3")
    params = changed(params, "logit_bias", "1=2 3=4")
    assert (params.top_p, params.seed, params.logit_bias) == (0.9, 3, {1: 2.0, 3: 4.0})
    params = changed(changed(params, "seed", "none"), "logit_bias", "none")
    assert (params.seed, dict(params.logit_bias)) == (None, {})


@pytest.mark.parametrize(("name", "text"), [("top_p", "high"), ("top_k", "1.5"), ("top_k", "none")])
def test_a_value_that_is_no_number_is_refused(name: str, text: str) -> None:
    with pytest.raises(SettingInvalid, match="a number" if name == "top_p" else "a whole number"):
        changed(DEFAULTS, name, text)


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "11", "9" * 5000, ""])
def test_a_whole_number_outside_its_bounds_is_refused(text: str) -> None:
    with pytest.raises(SettingInvalid, match="from 1 to 10"):
        whole("max_tokens", text, 10)
    assert whole("max_tokens", "10", 10) == 10


def test_a_value_out_of_range_is_refused() -> None:
    with pytest.raises(InvalidSamplingParameter):
        changed(DEFAULTS, "top_p", "2")
