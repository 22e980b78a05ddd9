"""The plan against the memory that real passes take."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.engine.job import StepJob
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.engine.pending import PendingStep
from split_server.engine.scheduler import Scheduler
from split_server.errors import MalformedCheckpoint
from split_server.kv.cache import KVCache
from split_server.memory.plan import MemoryPlan, ModelShape, shape_of
from split_wire.tensor import Tensor
from tests.checkpoints import tiny_checkpoint
from tests.engines import tiny_backbone
from tests.exhaustive import EXHAUSTIVE

_CONFIG: dict[str, Any] = {
    "model_type": "qwen2",
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "max_position_embeddings": 32_768,
}


def _passes(path: Path, dtype: str) -> list[dict[str, int]]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.split_server.memory.plan_process", str(path), dtype],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        cwd=Path(__file__).parents[3],
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads proc(5)")
@pytest.mark.parametrize(
    ("dtype", "intermediate"),
    [("float32", 4096), *([("bfloat16", 512), ("float32", 512)] if EXHAUSTIVE else [])],
)
def test_passes_take_what_the_shape_says(tmp_path: Path, dtype: str, intermediate: int) -> None:
    path = tiny_checkpoint(
        "qwen2",
        tmp_path / "shape",
        hidden_size=512,
        intermediate_size=intermediate,
        num_hidden_layers=2,
        num_attention_heads=8,
        max_position_embeddings=8192,
        initializer_range=0.02,
    )
    passes = _passes(path, dtype)
    assert len(passes) == 1 + 4 + 12 + 3
    for one in passes:
        assert one["grown"] == one["growth"]
        # 3 MiB for what Python and the kernels' own scratch take in any pass.
        assert one["peak"] <= 1.15 * one["workspace"] + (3 << 20)
    if intermediate == 4096:
        # The smaller workspaces hide in blocks of the heap that were there already.
        largest = max(one["workspace"] for one in passes)
        assert max(one["peak"] for one in passes) >= 0.5 * largest


def test_the_cache_of_a_position_is_what_real_buffers_take(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    config = json.loads((tiny_path / "config.json").read_text())
    plan, cache = MemoryPlan(shape_of(config, 4)), KVCache()
    for rows in (1, 40, 100):
        wanted = torch.zeros(rows, backbone.info.hidden_size)
        ModelRunner(backbone).run([Slice(cache, cache.length, wanted)])
        assert cache.allocated_bytes == plan.cache_bytes(cache.length)


def test_positions_within_a_room_are_the_most_whose_buffers_fit() -> None:
    plan = MemoryPlan(shape_of(_CONFIG, 2))
    for room in (0, 1, 10**6, 10**8, 3 * 10**8, 10**12):
        positions = plan.positions_within(room)
        assert positions == 0 or plan.cache_bytes(positions) <= room
        more = plan.cache_bytes(positions + 1) > room
        assert more or positions == _CONFIG["max_position_embeddings"]


def test_no_pass_has_more_rows_than_the_plan_expects(tiny_path: Path) -> None:
    scheduler = Scheduler()
    for rows in [16] * 40 + [400] * 3 + [15] * 40:
        embeddings = Tensor("f32", (rows, 1), bytes(4 * rows))
        job = StepJob(KVCache(), 0, embeddings, "last", "f32")
        scheduler.add(PendingStep(job, lambda _: None, lambda: True, 0.0))
    most = sum(rows for _, rows in scheduler.plan(lambda _: 10_000))
    assert 256 <= most <= MemoryPlan(shape_of(_CONFIG, 4)).max_rows


def test_models_that_cap_scores_hold_a_block_of_them() -> None:
    gemma = _CONFIG | {"model_type": "gemma2", "attn_logit_softcapping": 50.0, "head_dim": 64}
    plain = MemoryPlan(shape_of(gemma | {"attn_logit_softcapping": None}, 4))
    capped = MemoryPlan(shape_of(gemma, 4))
    assert capped.workspace(256, 8192) > plain.workspace(256, 8192)
    assert capped.workspace(256, 8192) == pytest.approx(capped.workspace(256, 4096), rel=0.2)


def test_on_a_gpu_repeated_heads_of_keys_and_values_are_counted_and_no_scores() -> None:
    on_gpu = MemoryPlan(shape_of(_CONFIG, 2, "cuda:0"))
    besides = on_gpu.workspace(256, 8192) - MemoryPlan(shape_of(_CONFIG, 2)).workspace(256, 8192)
    assert 0 <= besides < 14 * 256 * 8192 * 4
    assert on_gpu.workspace(1, 8192) >= 2 * 14 * 64 * 8192 * 2


def test_a_config_without_widths_is_malformed() -> None:
    with pytest.raises(MalformedCheckpoint, match="intermediate_size"):
        shape_of({k: v for k, v in _CONFIG.items() if k != "intermediate_size"}, 4)


def test_a_shape_names_what_config_json_says() -> None:
    shape = shape_of(_CONFIG, 2)
    assert isinstance(shape, ModelShape)
    assert (shape.head_dim, shape.num_kv_heads) == (64, 2)
    assert shape.kv_bytes_per_position == 2 * 24 * 2 * 64 * 2
