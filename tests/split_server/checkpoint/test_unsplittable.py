"""Refusals of models that cannot be split, by name and with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from split_server.checkpoint.families import FAMILIES, family_of
from split_server.errors import UnsupportedFamily


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        ("gemma3", "gemma3_text"),
        ("gemma3n", "token ids"),
        ("gemma3n_text", "token ids"),
        ("gemma4", "token ids"),
        ("llava", "text model alone"),
        ("qwen2_5_vl", "text model alone"),
        ("t5", "encoder"),
        ("bart", "encoder"),
        ("mamba", "running state"),
        ("rwkv", "running state"),
        ("recurrent_gemma", "running state"),
        ("qwen3_next", "running state"),
    ],
)
def test_families_that_cannot_be_split_are_refused_with_the_reason(
    family: str, reason: str
) -> None:
    with pytest.raises(UnsupportedFamily, match=f"'{family}' are not supported .*{reason}"):
        family_of({"model_type": family})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"text_config": {}}, "text model alone"),
        ({"vision_config": {}}, "text model alone"),
        ({"audio_config": {}}, "text model alone"),
        ({"is_encoder_decoder": True}, "encoder"),
    ],
)
def test_the_shape_of_a_configuration_tells_why_where_the_name_does_not(
    fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(UnsupportedFamily, match=f"'of_tomorrow' are not supported .*{reason}"):
        family_of({"model_type": "of_tomorrow"} | fields)


def test_a_family_of_which_nothing_is_known_is_refused_without_a_reason() -> None:
    with pytest.raises(UnsupportedFamily, match="'of_tomorrow' are not supported; supported: "):
        family_of({"model_type": "of_tomorrow", "is_encoder_decoder": False})
    with pytest.raises(UnsupportedFamily, match=r"'unknown' .*names no model_type"):
        family_of({})


@pytest.mark.parametrize("family", ["gemma2", "gemma3_text"])
def test_attention_to_later_positions_is_refused(family: str) -> None:
    config = {"model_type": family, "use_bidirectional_attention": True}
    with pytest.raises(UnsupportedFamily, match=r"use_bidirectional_attention.*later"):
        family_of(config)
    assert family_of(config | {"use_bidirectional_attention": None}).name == family


@pytest.mark.parametrize(
    "fields",
    [
        {"rope_scaling": {"type": "dynamic", "factor": 2.0}},
        {"rope_parameters": {"rope_type": "longrope"}},
        {"rope_parameters": {"full_attention": {"rope_type": "dynamic"}, "sliding_attention": {}}},
    ],
)
def test_a_rope_that_changes_with_the_length_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedFamily, match=r"rope type .*sessions"):
        family_of({"model_type": "llama"} | fields)


@pytest.mark.parametrize("kind", ["longrope", "su", "yarn"])
@pytest.mark.parametrize("key", ["type", "rope_type"])
def test_every_name_of_the_long_rope_of_phi3_is_refused(key: str, kind: str) -> None:
    with pytest.raises(UnsupportedFamily, match=f"phi3 with rope type {kind}.*sessions"):
        family_of({"model_type": "phi3", "rope_scaling": {key: kind, "long_factor": [1.0]}})


@pytest.mark.parametrize("kind", ["default", "linear", "llama3", "yarn"])
@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "phi3"])
def test_ropes_that_stay_the_same_are_served(family: str, kind: str) -> None:
    config = {"model_type": family, "rope_scaling": {"rope_type": kind, "factor": 4.0}}
    assert family_of(config).name == family
    assert family_of({"model_type": family, "rope_scaling": None}).name == family
