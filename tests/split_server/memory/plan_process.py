"""Passes of a model in a process of their own, with the memory that each took.

``python -m tests.split_server.memory.plan_process CHECKPOINT DTYPE``: one line of JSON per pass.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache
from split_server.memory.allocator import give_back_large_blocks
from split_server.memory.limit import MemoryLimit, Room
from split_server.memory.passes import MeasuredPasses
from split_server.memory.plan import MemoryPlan, shape_of
from split_server.memory.planner import MemoryPlanner
from split_server.memory.usage import PeakMeter

_ROWS = 256


def main() -> None:
    """Growing prompts of several lengths, in slices, then passes that grow nothing."""
    # The C library would keep a workspace for the next pass, where no meter sees it again.
    give_back_large_blocks()
    torch.set_num_threads(1)
    checkpoint = read_checkpoint(Path(sys.argv[1]), "shape")
    backbone = load_backbone(checkpoint, sys.argv[2], "cpu", linears="plain")
    limit = MemoryLimit([lambda: Room(1 << 40, "test")])
    plan = MemoryPlan(shape_of(checkpoint.config, backbone.dtype.itemsize))
    planner = MemoryPlanner(plan, limit, BufferPool(0))
    runner = ModelRunner(backbone, 1, MeasuredPasses(planner, PeakMeter()))
    runner.warm_up()

    def rows(count: int) -> torch.Tensor:
        return torch.randn(count, backbone.info.hidden_size).to(backbone.dtype)

    # Kernels take their scratch with their first large pass, and keep it.
    runner.run([Slice(KVCache(), 0, rows(_ROWS))])
    planner.record.add = _print  # type: ignore[method-assign]
    for longest in (256, 1024, 3072):
        cache = KVCache()
        for start in range(0, longest, _ROWS):
            runner.run([Slice(cache, start, rows(_ROWS))])
        runner.run([Slice(cache, longest - 128, rows(128))])


def _print(growth: int, grown: int, workspace: int, peak: int) -> None:
    line = {"growth": growth, "grown": grown, "workspace": workspace, "peak": peak}
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
