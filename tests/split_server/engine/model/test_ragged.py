"""Many sessions that join, reply, edit, cancel and leave at random on one engine.

Every reply must be what ``generate`` would say after the same ids, whoever else was in the pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from split_server.engine.engine import Engine
from split_server.engine.model.plan.choice import MODULES, PLAN, arrange_layers
from split_server.engine.model.plan.reading import FAMILIES
from split_server.engine.model.runner import ModelRunner
from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache
from tests.checkpoints import ALL_FAMILIES
from tests.crowds import Crowd
from tests.engines import tiny_backbone
from tests.exhaustive import EXHAUSTIVE

ROUNDS, FEW_ROUNDS = 400 if EXHAUSTIVE else 100, 66
# What is drawn depends on no family, what a family changes shows within a few dozen replies: one of
# each kind of attention has all rounds, the others a third of them.
THOROUGH = ("qwen2", "gemma3_text", "cohere2")


@contextmanager
def engine_on(path: Path, layers: str) -> Iterator[Engine]:
    backbone = tiny_backbone(path)
    if layers == PLAN:
        arranged = arrange_layers(backbone.module, backbone.dtype, "packed")
        assert arranged.kind == PLAN
        backbone = replace(backbone, layers=PLAN, least_rows=arranged.least_rows)
    engine = Engine(ModelRunner(backbone), backbone.info)
    engine.start()
    try:
        yield engine
    finally:
        import asyncio

        asyncio.run(engine.stop())


# Layers by a plan for every family that has one, and by modules for one of each kind of attention
# and for all that have none.
CROWDS = [
    *((family, PLAN) for family in sorted(FAMILIES)),
    *(
        (family, MODULES)
        for family in ALL_FAMILIES
        if EXHAUSTIVE or family in THOROUGH or family not in FAMILIES
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "layers"), CROWDS)
def test_every_reply_of_a_ragged_crowd_is_what_generate_says(
    family: str, layers: str, tiny_family: Any
) -> None:
    path = tiny_family(family)
    rounds = ROUNDS if EXHAUSTIVE or family in THOROUGH else FEW_ROUNDS
    with engine_on(path, layers) as engine:
        pool = BufferPool(1 << 24, poison=True)
        crowd = Crowd(path, engine, len(family), lambda: KVCache(pool))
        for _ in range(rounds):
            crowd.round()
        crowd.end()
    assert crowd.steps > 3.75 * rounds
    assert crowd.replies > 0.375 * rounds
    assert crowd.cancelled > 0
