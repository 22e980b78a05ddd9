"""A ragged crowd of sessions on llama.cpp: join, reply, edit, cancel, leave."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from split_server.engine.engine import Engine
from tests.checkpoints import tiny_checkpoint
from tests.crowds import SESSIONS, Crowd
from tests.exhaustive import EXHAUSTIVE
from tests.llama_models import loaded, overrides, split_folder

# About four steps each. The others of ggml's families compute GELU from a table of half precision.
ROUNDS = {"llama": 400, "qwen2": 100, "qwen3": 66}


@pytest.mark.slow
@pytest.mark.parametrize("family", ROUNDS)
def test_every_reply_of_a_ragged_crowd_is_what_generate_says(family: str, tmp_path: Path) -> None:
    path = tiny_checkpoint(family, tmp_path / "hf", **overrides(family))
    # One more than speak at a time: whoever waits until a step was given up.
    model = loaded(split_folder(path, tmp_path), sessions=SESSIONS + 1)
    engine = Engine(model.runner, model.info, pass_rows=128)
    engine.start()
    rounds = ROUNDS[family] * (2 if EXHAUSTIVE else 1)
    try:
        crowd = Crowd(path, engine, len(family), model.cells.new)
        for _ in range(rounds):
            crowd.round()
        crowd.end()
    finally:
        asyncio.run(engine.stop())
    assert crowd.steps > 3.75 * rounds
    assert crowd.replies > 0.375 * rounds
    assert crowd.cancelled > 0
    _nothing_is_left(model)


def _nothing_is_left(model: Any) -> None:
    """Every sequence is idle and every cell free again."""
    cells, runner = model.cells, model.runner
    cells.settle(runner._remove)
    assert len(cells._idle) == SESSIONS + 1 + 8
    assert runner._map.used == 0
    assert set(runner._context._ends) == {0}
