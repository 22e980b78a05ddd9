"""Passes that are compared with the plan, and passes in which memory runs out."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache
from split_server.memory.errors import is_memory_error
from split_server.memory.limit import MemoryLimit, Room
from split_server.memory.passes import MeasuredPasses
from split_server.memory.plan import MemoryPlan, shape_of
from split_server.memory.planner import MemoryPlanner
from split_server.memory.usage import PeakMeter
from split_wire.errors import CacheFull
from tests import oracle
from tests.engines import tiny_backbone


class MarkedMeter(PeakMeter):
    """A rise of a mebibyte in every measured pass."""

    marks = 0

    def mark(self) -> None:
        self.marks += 1

    def risen(self) -> int:
        return 1 << 20


def planned(path: Path) -> tuple[ModelRunner, MemoryPlanner, MarkedMeter]:
    config = json.loads((path / "config.json").read_text())
    limit = MemoryLimit([lambda: Room(1 << 30, "test")])
    planner = MemoryPlanner(MemoryPlan(shape_of(config, 4)), limit, BufferPool(0))
    meter = MarkedMeter()
    runner = ModelRunner(tiny_backbone(path), 1, MeasuredPasses(planner, meter))
    return runner, planner, meter


def rows(path: Path, count: int) -> torch.Tensor:
    return oracle.embeddings(path, [5 + number % 50 for number in range(count)]).clone()


def test_a_measured_pass_computes_what_any_pass_does(tiny_path: Path) -> None:
    runner, _, _ = planned(tiny_path)
    cache, plain = KVCache(), KVCache()
    [hidden] = runner.run([Slice(cache, 0, rows(tiny_path, 80))])
    [wanted] = ModelRunner(tiny_backbone(tiny_path), 1).run([Slice(plain, 0, rows(tiny_path, 80))])
    torch.testing.assert_close(hidden, wanted)
    assert cache.length == 80


def test_passes_of_a_few_rows_are_not_measured(tiny_path: Path) -> None:
    runner, planner, meter = planned(tiny_path)
    cache = KVCache()
    runner.run([Slice(cache, 0, rows(tiny_path, 63))])
    assert meter.marks == 0
    runner.run([Slice(cache, 63, rows(tiny_path, 64))])
    assert meter.marks == 1
    ratios = planner.record.ratios()
    assert ratios is not None
    assert ratios.count == 1


def test_a_pass_that_moves_recycled_buffers_is_no_evidence(tiny_path: Path) -> None:
    runner, planner, _ = planned(tiny_path)
    planner.pool.bound(1 << 30)
    cache = KVCache(planner.pool)
    runner.run([Slice(cache, 0, rows(tiny_path, 80))])
    runner.run([Slice(cache, 80, rows(tiny_path, 80))])
    assert planner.pool.idle_bytes > 0
    ratios = planner.record.ratios()
    assert ratios is not None
    assert ratios.count == 1


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't "
            "allocate memory: you tried to allocate 8 bytes. Error code 12 (Cannot allocate memory)"
        ),
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("could not create a memory object"),
        RuntimeError("std::bad_alloc"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_a_pass_without_memory_is_refused_and_the_cache_is_as_before(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    runner, planner, _ = planned(tiny_path)
    cache = KVCache()
    runner.run([Slice(cache, 0, rows(tiny_path, 10))])

    def fail(*_: Any) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(runner, "_forward", fail)
        with pytest.raises(CacheFull) as refusal:
            runner.run([Slice(cache, 5, rows(tiny_path, 20))])
    assert refusal.value.positions == 25
    assert cache.length == 5
    assert planner.failed == 1
    runner.run([Slice(cache, 5, rows(tiny_path, 20))])
    assert cache.length == 25


def test_a_real_allocation_that_fails_is_recognised() -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert is_memory_error(caught.value)


def test_other_failures_are_told_as_they_are(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner, planner, _ = planned(tiny_path)

    def fail(*_: Any) -> None:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(runner, "_forward", fail)
    with pytest.raises(RuntimeError, match="shapes"):
        runner.run([Slice(KVCache(), 0, rows(tiny_path, 2))])
    assert planner.failed == 0
