"""The client's part of the configuration file: what cannot be is told with file and key."""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import pytest

from split_client.config.chat import ChatConfig
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.sampling.params import SamplingParams
from split_client.noise.settings import NoiseSettings
from split_settings import BadValue, load, settings_of

SAMPLING = {field.name for field in dataclasses.fields(SamplingParams)}


def read(folder: Path, line: str) -> ChatConfig:
    file = folder / "mine.toml"
    file.write_text(f"[client]\n{line}\n")
    return load(ChatConfig, argparse.Namespace(config=str(file)), environ={})


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('max_tokens = "3"', "max_tokens"),
        ("max_tokens = 0", "max_tokens"),
        ("temperature = 200", "temperature"),
        ('temperature = "warm"', "temperature"),
        ("top_k = 1.5", "top_k"),
        ("top_p = 0", "top_p"),
        ("min_p = 2", "min_p"),
        ("repetition_penalty = 0", "repetition_penalty"),
        ("presence_penalty = 3", "presence_penalty"),
        ("frequency_penalty = nan", "frequency_penalty"),
        ("seed = -1", "seed"),
        ('logit_bias = ["x"]', "logit_bias"),
        ('logit_bias = ["1=200"]', "logit_bias"),
        ("logit_bias = [3]", "logit_bias"),
        ("noise_epsilon = 0", "noise_epsilon"),
        ("noise_delta = 1", "noise_delta"),
        ("markdown = 1", "markdown"),
        ('theme = "pink"', "theme"),
        ("system = 3", "system"),
        ("drafts = 32", "drafts"),
        ("drafts = 0", "drafts"),
        ("drafts = true", "drafts"),
        ('drafts = "often"', "drafts"),
        ('draft_memory = "all"', "draft_memory"),
        ("draft_file = 3", "draft_file"),
    ],
)
def test_a_wrong_type_or_range_names_file_and_key(tmp_path: Path, line: str, key: str) -> None:
    with pytest.raises(BadValue) as caught:
        read(tmp_path, line)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}, client.{key}: ")


@pytest.mark.parametrize("line", ["temperature = 0", "top_p = 1", "top_k = 0", "noise_delta = 0.5"])
def test_the_ends_of_a_range_belong_to_it(tmp_path: Path, line: str) -> None:
    name, _, value = line.partition(" = ")
    assert getattr(read(tmp_path, line), name) == float(value)


def test_the_bounds_of_the_settings_are_those_of_the_sampler() -> None:
    """What the file may say, the sampler takes; what lies outside, it refuses too."""
    bounded = [s for s in settings_of(ChatConfig) if s.name in SAMPLING - {"logit_bias", "seed"}]
    assert len(bounded) == 7
    for setting in bounded:
        low = setting.details.minimum
        outside = setting.details.above if low is None else low - (1 if low in (0, -2) else 0.005)
        for edge in (low, setting.details.maximum):
            if edge is not None:
                SamplingParams(**{setting.name: setting.kind(edge)})
        high = (setting.details.maximum or 0) + 1
        for beyond in (outside, high):
            assert beyond is not None
            with pytest.raises(InvalidSamplingParameter):
                SamplingParams(**{setting.name: setting.kind(beyond)})


def test_the_largest_delta_is_one_that_noise_takes() -> None:
    delta = next(s for s in settings_of(ChatConfig) if s.name == "noise_delta").details.maximum
    assert delta is not None
    assert NoiseSettings(sigma=1.0, delta=delta).delta < 1


@pytest.mark.parametrize(
    ("text", "drafts"), [('"auto"', "auto"), ('"off"', "off"), ('"8"', 8), ("31", 31)]
)
def test_drafts_are_a_word_or_a_number(tmp_path: Path, text: str, drafts: object) -> None:
    assert read(tmp_path, f"drafts = {text}").drafts == drafts
