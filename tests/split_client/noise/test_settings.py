"""The settings that may be asked of noised mode."""

from __future__ import annotations

import math
from typing import Any

import pytest

from split_client.config.reply import ReplyConfig
from split_client.noise.errors import NoiseForbids, NoiseSettingInvalid
from split_client.noise.settings import NoiseSettings
from split_client.terminal.noise import noise_from
from split_client.terminal.sampling import SettingInvalid


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"epsilon": 1.0, "sigma": 1.0},
        {"epsilon": 0.0},
        {"sigma": -1.0},
        {"sigma": math.nan},
        {"epsilon": math.inf},
        {"epsilon": 1.0, "delta": 0.0},
        {"epsilon": 1.0, "delta": 1.0},
        {"epsilon": 1.0, "clip": 0.0},
        {"epsilon": 1.0, "budget_epsilon": -3.0},
        {"epsilon": 1.0, "key": b"short"},
        {"epsilon": 1.0, "identity": ""},
    ],
)
def test_numbers_that_make_no_noise_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(NoiseSettingInvalid):
        NoiseSettings(**given)


def test_a_key_is_never_shown() -> None:
    key = bytes(range(32))
    shown = repr(NoiseSettings(sigma=1.0, key=key))
    assert "sigma=1.0" in shown
    assert key.hex() not in shown
    assert repr(key) not in shown


def test_flags_become_settings_and_no_flag_is_no_noise() -> None:
    assert noise_from(ReplyConfig()) is None
    flags = ReplyConfig(noise_epsilon=8.0, noise_clip=2.0, noise_budget=100.0)
    assert noise_from(flags) == NoiseSettings(epsilon=8.0, clip=2.0, budget_epsilon=100.0)


def test_sampling_that_looks_at_the_clean_prompt_does_not_even_connect() -> None:
    with pytest.raises(NoiseForbids, match="repetition_penalty"):
        noise_from(ReplyConfig(noise_epsilon=1.0, repetition_penalty=1.2))
    assert noise_from(ReplyConfig(noise_epsilon=1.0, repetition_penalty=1.0)) is not None
    assert noise_from(ReplyConfig(repetition_penalty=1.2)) is None


def test_a_budget_without_noise_is_no_budget() -> None:
    with pytest.raises(SettingInvalid, match="--noise-epsilon"):
        noise_from(ReplyConfig(noise_budget=10.0))
    with pytest.raises(SettingInvalid, match="one of the two"):
        noise_from(ReplyConfig(noise_epsilon=1.0, noise_sigma=1.0))
