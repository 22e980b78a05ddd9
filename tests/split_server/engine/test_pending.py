"""A step that takes several passes, and what becomes of its hidden states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.job import Abandoned, EngineResult, Outcome, StepJob
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.plan.choice import MODULES
from split_server.engine.model.runner import ModelRunner
from split_server.engine.pending import PendingStep
from split_server.kv.cache import KVCache
from split_wire.errors import HiddenOverflow
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import tiny_backbone

IDS = list(range(7, 47))


def pending(path: Path, rows: Any = "all", dtype: Any = "f32") -> tuple[PendingStep, list[Outcome]]:
    outcomes: list[Outcome] = []
    embeddings = Tensor.from_f32(oracle.embeddings(path, IDS).numpy(), "f32")
    job = StepJob(KVCache(), 0, embeddings, rows, dtype)
    return PendingStep(job, outcomes.append, lambda: True, queued_at=1.0), outcomes


def serve(step: PendingStep, runner: ModelRunner, *sizes: int) -> None:
    for size in sizes:
        [hidden] = runner.run([step.slice(size, runner)])
        step.advance(hidden, 0.25)


def test_slices_add_up_to_the_rows_of_one_pass(tiny_path: Path) -> None:
    runner = ModelRunner(tiny_backbone(tiny_path))
    step, outcomes = pending(tiny_path)
    serve(step, runner, 13, 1, 26)
    assert step.remaining == 0
    step.finish(lambda: 3.0)
    [result] = outcomes
    assert isinstance(result, EngineResult)
    logits = oracle.head(tiny_path, torch.from_numpy(result.hidden.to_f32().copy()))
    torch.testing.assert_close(logits, oracle.logits(tiny_path, IDS), atol=2e-4, rtol=1e-4)
    assert (result.compute_us, result.queue_us) == (750_000, 1_250_000)


def test_the_last_row_alone_is_kept_when_it_is_asked_for(tiny_path: Path) -> None:
    runner = ModelRunner(tiny_backbone(tiny_path))
    step, outcomes = pending(tiny_path, rows="last")
    serve(step, runner, 39, 1)
    step.finish(lambda: 3.0)
    [result] = outcomes
    assert isinstance(result, EngineResult)
    assert result.hidden.shape == (1, 64)
    logits = oracle.head(tiny_path, torch.from_numpy(result.hidden.to_f32().copy()))
    torch.testing.assert_close(logits, oracle.logits(tiny_path, IDS)[-1:], atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "i8"])
def test_hidden_states_are_rounded_to_the_dtype_that_was_asked(tiny_path: Path, dtype: str) -> None:
    runner = ModelRunner(tiny_backbone(tiny_path))
    results = []
    for asked in ("f32", dtype):
        step, outcomes = pending(tiny_path, dtype=asked)
        serve(step, runner, len(IDS))
        step.finish(lambda: 1.0)
        assert isinstance(outcomes[0], EngineResult)
        results.append(outcomes[0].hidden)
    exact, rounded = results
    assert rounded.dtype == dtype
    wanted = Tensor.from_f32(exact.to_f32(), rounded.dtype).to_f32()
    torch.testing.assert_close(torch.from_numpy(rounded.to_f32()), torch.from_numpy(wanted))


def test_hidden_states_that_overflow_are_refused_and_not_kept(tiny_path: Path) -> None:
    # A plan has read its norms when the model was loaded.
    backbone = load_backbone(read_checkpoint(tiny_path, "tiny"), "float32", "cpu", layers=MODULES)
    with torch.no_grad():
        backbone.module.norm.weight.mul_(1e6)
    step, outcomes = pending(tiny_path, dtype="f16")
    serve(step, ModelRunner(backbone), len(IDS))
    step.finish(lambda: 1.0)
    assert isinstance(outcomes[0], HiddenOverflow)
    assert step.job.cache.length == 0


def test_a_step_that_is_abandoned_half_way_leaves_the_cache_as_it_was(tiny_path: Path) -> None:
    step, outcomes = pending(tiny_path)
    serve(step, ModelRunner(tiny_backbone(tiny_path)), 13)
    step.abandon()
    assert isinstance(outcomes[0], Abandoned)
    assert step.job.cache.length == 0


def test_an_abandoned_step_that_was_not_begun_truncates_nothing(tiny_path: Path) -> None:
    runner = ModelRunner(tiny_backbone(tiny_path))
    step, _ = pending(tiny_path)
    serve(step, runner, len(IDS))
    job = StepJob(step.job.cache, 3, step.job.embeddings, "last", "f32")
    PendingStep(job, lambda _: None, lambda: False, 0.0).abandon()
    assert step.job.cache.length == len(IDS)


def test_more_rows_are_few_where_a_pass_takes_as_long_for_them(tiny_path: Path) -> None:
    step, _ = pending(tiny_path)
    wide = PendingStep(step.job, lambda _: None, lambda: True, 0.0, interactive_rows=len(IDS))
    assert (step.interactive, wide.interactive) == (False, True)
