"""`--quantize auto`: says what this machine would gain by, and changes nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.matrices import Matrices
from split_server.engine.model.packed import Slice
from split_server.engine.model.race import Laps
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_server.memory.ways import recommendation, sizes_of_ways
from tests import oracle
from tests.engines import tiny_backbone

_ROOMY = 1 << 40


def _told(path: Path, laps: dict[str, tuple[float, float]] | None, free: int = _ROOMY) -> str:
    backbone: Backbone = tiny_backbone(path)
    found = None if laps is None else Laps((1, 16), laps)
    backbone = replace(backbone, matrices=Matrices(laps=found))
    return recommendation(read_checkpoint(path, "tiny"), backbone, free)


@pytest.mark.parametrize(
    ("int8", "int4", "way"),
    [
        ((0.8, 1.0), (0.4, 1.0), "int8"),
        ((1.0, 1.0), (0.4, 1.0), "int4"),
        ((1.0, 1.0), (0.4, 2.0), "none"),
        ((0.8, 1.2), (0.4, 2.0), "none"),
    ],
)
def test_the_milder_way_that_gains_is_recommended(
    tiny_path: Path, int8: tuple[float, float], int4: tuple[float, float], way: str
) -> None:
    told = _told(tiny_path, {"none": (1.0, 1.0), "int8": int8, "int4": int4})
    assert f"Recommended: --quantize {way}," in told
    assert "serves the model as it is" in told


def test_short_memory_decides_before_speed(tiny_path: Path) -> None:
    laps = {"none": (1.0, 1.0), "int8": (2.0, 2.0), "int4": (2.0, 2.0)}
    assert "Recommended: --quantize int8, because memory is short" in _told(tiny_path, laps, 1000)
    # Beside weights that leave nothing at all, the smallest.
    assert "Recommended: --quantize int4, because memory" in _told(tiny_path, laps, -(1 << 30))


def test_where_nothing_else_is_possible_nothing_is_recommended(tiny_path: Path) -> None:
    for laps in (None, {}, {"none": (1.0, 1.0)}):
        assert "nothing is recommended" in _told(tiny_path, laps)


def test_plan_tells_the_sizes_of_the_ways(tiny_path: Path) -> None:
    [line] = sizes_of_ways(read_checkpoint(tiny_path, "tiny"), 4)
    assert "int8" in line
    assert "int4" in line


def test_auto_races_and_changes_nothing(tiny_path: Path) -> None:
    rows = oracle.embeddings(tiny_path, list(range(3, 20)))
    checkpoint = read_checkpoint(tiny_path, "tiny")
    auto, none = (
        load_backbone(checkpoint, "float32", "cpu", linears="plain", quantize=kept)
        for kept in ("auto", "none")
    )
    assert auto.matrices.quantized == "none"
    assert auto.matrices.laps is not None
    assert all(time > 0 for times in auto.matrices.laps.ways.values() for time in times)
    found, expected = (ModelRunner(b).run([Slice(KVCache(), 0, rows)])[0] for b in (auto, none))
    assert torch.equal(found, expected)
