"""Moved keys are those that the model computes at the new place, for every family."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.checkpoint.folder import Checkpoint, open_checkpoint
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.trials.rotation import computed_keys, key_rotation
from split_server.errors import NoKeyRotation
from split_server.kv.moving.rotate import KeyRotation
from tests.checkpoints import ALL_FAMILIES, tiny_checkpoint

ROWS = 24
# Old and new positions, near and far, forwards and backwards, by one and by many.
MOVES = [(0, 1), (1, 0), (7, 300), (300, 7), (0, 30_000), (30_000, 30_001), (120_000, 64), (9, 9)]
SCALED: dict[str, dict[str, Any]] = {
    "linear": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10_000.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 128,
        "rope_theta": 500_000.0,
    },
    "yarn": {
        "rope_type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 128,
        "rope_theta": 10_000.0,
    },
}


def opened(path: Path) -> Checkpoint:
    return open_checkpoint(str(path))


def loaded(path: Path, dtype: str = "float32", **options: Any) -> Backbone:
    return load_backbone(opened(path), dtype, "cpu", linears="plain", **options)


def furthest(backbone: Backbone, rotation: KeyRotation, rows: torch.Tensor) -> float:
    """Of all moves and layers, norm of the difference over that of the computed keys."""
    worst = 0.0
    for old, new in MOVES:
        move = rotation.move(old, new, len(rows))
        before, right = computed_keys(backbone, rows, old), computed_keys(backbone, rows, new)
        assert len(before) == backbone.info.num_layers
        for layer, keys in enumerate(before):
            off = (move(layer, keys).double() - right[layer].double()).norm()
            worst = max(worst, float(off / right[layer].double().norm()))
    return worst


def some_rows(backbone: Backbone) -> torch.Tensor:
    return torch.randn(ROWS, backbone.info.hidden_size, generator=torch.manual_seed(3))


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_moved_keys_are_the_computed_ones_in_every_layer_of_every_family(
    family: str, tmp_path: Path
) -> None:
    backbone = loaded(tiny_checkpoint(family, tmp_path))
    assert furthest(backbone, key_rotation(backbone), some_rows(backbone)) <= 1e-6


@pytest.mark.parametrize("kind", SCALED)
def test_a_scaled_rope_is_undone_with_its_scale(kind: str, tmp_path: Path) -> None:
    backbone = loaded(tiny_checkpoint("llama", tmp_path, rope_parameters=SCALED[kind]))
    assert furthest(backbone, key_rotation(backbone), some_rows(backbone)) <= 1e-6


@pytest.mark.parametrize("family", ["qwen2", "cohere", "gemma3_text"])
def test_of_bfloat16_keys_no_more_is_lost_than_a_rounding(family: str, tmp_path: Path) -> None:
    backbone = loaded(tiny_checkpoint(family, tmp_path), "bfloat16")
    assert furthest(backbone, key_rotation(backbone), some_rows(backbone)) <= 6e-3


def test_a_plan_turns_its_keys_as_the_modules_do(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path)
    backbone = load_backbone(opened(path), "float32", "cpu", linears="packed", layers="auto")
    assert backbone.layers == "plan"
    assert furthest(backbone, key_rotation(backbone), some_rows(backbone)) <= 1e-6


def test_turning_on_by_the_difference_of_positions_leaves_more_behind(tmp_path: Path) -> None:
    backbone = loaded(tiny_checkpoint("llama", tmp_path))
    rows, old, new = some_rows(backbone), 30_000, 30_700
    rotation = key_rotation(backbone)
    before, right = computed_keys(backbone, rows, old)[0], computed_keys(backbone, rows, new)[0]

    def off(keys: torch.Tensor) -> float:
        return float((keys.double() - right.double()).norm() / right.double().norm())

    by_difference = torch.cat(
        [rotation.move(0, new - old, 1)(0, before[:, [row]]) for row in range(ROWS)], 1
    )
    assert off(rotation.move(old, new, ROWS)(0, before)) <= 1e-6 < 20e-6 < off(by_difference)


def test_a_family_whose_rope_is_not_known_is_refused(tmp_path: Path) -> None:
    backbone = loaded(tiny_checkpoint("llama", tmp_path))
    other = replace(backbone, info=replace(backbone.info, family="mamba"))
    with pytest.raises(NoKeyRotation, match=r"mamba.*--kv-approximate"):
        key_rotation(other)


def test_a_model_that_turns_otherwise_than_its_family_is_refused(tmp_path: Path) -> None:
    backbone = loaded(tiny_checkpoint("llama", tmp_path))
    other = replace(backbone, info=replace(backbone.info, family="cohere"))
    with pytest.raises(NoKeyRotation, match="not those that are computed"):
        key_rotation(other)
