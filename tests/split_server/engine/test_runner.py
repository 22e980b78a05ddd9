"""The runner's hidden states and rollbacks against the whole model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.engine.loader import Backbone
from split_server.engine.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_wire.errors import HiddenOverflow
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import tiny_backbone

IDS = list(range(7, 47))


def rows(path: Path, ids: list[int]) -> Tensor:
    return Tensor.from_f32(oracle.embeddings(path, ids).numpy(), "f32")


def assert_same_logits(path: Path, hidden: Tensor, wanted: torch.Tensor) -> None:
    """Float32 sums in another order differ in their last bits; logits here are of the order 10."""
    torch.testing.assert_close(logits_of(path, hidden), wanted, atol=2e-4, rtol=1e-4)


def logits_of(path: Path, hidden: Tensor) -> torch.Tensor:
    return oracle.head(path, torch.from_numpy(hidden.to_f32().copy()))


def test_all_rows_of_a_prefill_give_the_logits_of_the_whole_model(family_path: Path) -> None:
    runner = ModelRunner(tiny_backbone(family_path))
    hidden = runner.run(KVCache(), 0, rows(family_path, IDS), "all", "f32")
    assert_same_logits(family_path, hidden, oracle.logits(family_path, IDS))


def test_the_last_row_alone_is_returned_when_asked(family_path: Path) -> None:
    runner = ModelRunner(tiny_backbone(family_path))
    hidden = runner.run(KVCache(), 0, rows(family_path, IDS), "last", "f32")
    assert hidden.shape[0] == 1
    wanted = oracle.logits(family_path, IDS)[-1:]
    assert_same_logits(family_path, hidden, wanted)


def test_a_rolled_back_cache_continues_as_if_the_dropped_rows_never_were(family_path: Path) -> None:
    runner, cache = ModelRunner(tiny_backbone(family_path)), KVCache()
    runner.run(cache, 0, rows(family_path, IDS), "last", "f32")
    edited = [*IDS[:11], 3, 4, 5]
    hidden = runner.run(cache, 11, rows(family_path, edited[11:]), "all", "f32")
    assert len(cache) == len(edited)
    wanted = oracle.logits(family_path, edited)[11:]
    assert_same_logits(family_path, hidden, wanted)


def test_a_failing_pass_leaves_the_positions_before_it(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    runner, cache = ModelRunner(backbone), KVCache()
    runner.run(cache, 0, rows(tiny_path, IDS), "last", "f32")
    with pytest.raises(MemoryError):
        failing_after(backbone).run(cache, 20, rows(tiny_path, IDS[:2]), "last", "f32")
    assert len(cache) == 20
    hidden = runner.run(cache, 20, rows(tiny_path, IDS[20:]), "all", "f32")
    assert_same_logits(tiny_path, hidden, oracle.logits(tiny_path, IDS)[20:])


def test_hidden_states_that_overflow_are_refused_and_not_kept(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    with torch.no_grad():
        backbone.module.norm.weight.mul_(1e6)
    cache = KVCache()
    with pytest.raises(HiddenOverflow):
        ModelRunner(backbone).run(cache, 0, rows(tiny_path, IDS), "last", "f16")
    assert len(cache) == 0


def failing_after(backbone: Backbone) -> ModelRunner:
    """A runner whose pass writes its keys and values and then runs out of memory."""

    def module(**arguments: Any) -> None:
        backbone.module(**arguments)
        raise MemoryError

    return ModelRunner(replace(backbone, module=module))


@pytest.mark.parametrize("dtype", ["f16", "bf16", "i8"])
def test_hidden_states_are_rounded_to_the_dtype_that_was_asked(tiny_path: Path, dtype: str) -> None:
    runner = ModelRunner(tiny_backbone(tiny_path))
    exact = runner.run(KVCache(), 0, rows(tiny_path, IDS), "all", "f32").to_f32()
    hidden = runner.run(KVCache(), 0, rows(tiny_path, IDS), "all", dtype)
    assert hidden.dtype == dtype
    wanted = Tensor.from_f32(exact, dtype).to_f32()
    torch.testing.assert_close(torch.from_numpy(hidden.to_f32()), torch.from_numpy(wanted))
