"""Planners whose limit the test turns."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache
from split_server.memory.limit import MemoryLimit, Room
from split_server.memory.plan import MemoryPlan, ModelShape
from split_server.memory.planner import MemoryPlanner

LAYERS, KV_HEADS, HEAD_DIM = 2, 2, 64
ROW = 2 * LAYERS * KV_HEADS * HEAD_DIM * 4
SHAPE = ModelShape(
    hidden_size=16,
    intermediate_size=16,
    num_layers=LAYERS,
    num_heads=2,
    num_kv_heads=KV_HEADS,
    head_dim=HEAD_DIM,
    max_context=4096,
    item_bytes=4,
    kv_bytes_per_position=ROW,
)


@dataclass
class Memory:
    """Bytes that are free, as an operating system would tell; ``readings`` counts questions."""

    free: int
    readings: int = 0

    def room(self) -> Room:
        self.readings += 1
        return Room(self.free, "test", counts_untouched=True)


def planner_with(memory: Memory, *, reserve: int = 0, idle: int = 0) -> MemoryPlanner:
    """A planner over :data:`SHAPE` within ``memory``."""
    return MemoryPlanner(MemoryPlan(SHAPE), MemoryLimit([memory.room]), BufferPool(idle), reserve)


def grow(cache: KVCache, positions: int) -> None:
    """Have ``cache`` hold ``positions``, as passes of the model would."""
    rows = torch.zeros(1, KV_HEADS, positions - cache.length, HEAD_DIM)
    for layer in range(LAYERS):
        cache.layer(layer).append(rows, rows)
    cache.grown_to(positions)
