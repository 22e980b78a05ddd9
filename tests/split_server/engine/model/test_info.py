"""Sizes from the configuration against a cache that the real model fills."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, DynamicCache

from split_server.checkpoint.families import FAMILIES
from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.info import kv_bytes_per_position
from split_server.errors import MalformedCheckpoint, UnsupportedFamily
from tests import oracle
from tests.checkpoints import tiny_checkpoint

POSITIONS = 40  # more than the window


@pytest.mark.parametrize("family", FAMILIES)
def test_a_position_takes_the_bytes_that_the_models_cache_takes(
    family: str, tmp_path: Path
) -> None:
    path = tiny_checkpoint(family, tmp_path / family)
    cache = DynamicCache()
    with torch.inference_mode():
        oracle.model(path).model(torch.arange(POSITIONS)[None] + 5, past_key_values=cache)
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    config = read_checkpoint(path, family).config
    assert kv_bytes_per_position(config, 4) * POSITIONS == held


@pytest.mark.parametrize("family", FAMILIES)
def test_head_shapes_that_are_left_out_are_the_familys_own(family: str) -> None:
    config = {
        "model_type": family,
        "hidden_size": 640,
        "num_attention_heads": 8,
        "num_hidden_layers": 2,
    }
    theirs = AutoConfig.for_model(**config)
    head_dim = getattr(theirs, "head_dim", None) or 640 // 8
    assert kv_bytes_per_position(config, 2) == 2 * 2 * theirs.num_key_value_heads * head_dim * 2


@pytest.mark.parametrize("head_dim", [None, 48])
def test_a_head_dim_that_is_null_is_hidden_size_over_heads(head_dim: int | None) -> None:
    config = {
        "model_type": "mistral",
        "hidden_size": 640,
        "num_attention_heads": 8,
        "num_key_value_heads": None,
        "num_hidden_layers": 2,
        "head_dim": head_dim,
    }
    assert kv_bytes_per_position(config, 2) == 2 * 2 * 8 * (head_dim or 80) * 2


def test_a_configuration_without_heads_is_refused() -> None:
    with pytest.raises(MalformedCheckpoint):
        kv_bytes_per_position({"model_type": "llama", "hidden_size": 64}, 2)
    with pytest.raises(UnsupportedFamily):
        kv_bytes_per_position({"num_attention_heads": 8, "hidden_size": 64}, 2)
