"""Counts of steps that a real engine serves, refuses to serve, or need not serve."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from split_server.engine.engine import Engine
from split_server.engine.job import Outcome, StepJob
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_server.metrics.steps import StepMeter
from split_wire.tensor import Tensor
from tests.engines import run, tiny_backbone

_POISON = 7.0


class _Runner(ModelRunner):
    """Fails for rows that begin with the poison."""

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        if any(bool((part.embeddings[0, 0] == _POISON).item()) for part in slices):
            raise RuntimeError("poison")
        return super().run(slices)


@pytest.fixture
def engine(tiny_path: Path) -> Iterator[Engine]:
    """A running engine with a meter."""
    backbone = tiny_backbone(tiny_path)
    engine = Engine(_Runner(backbone), backbone.info)
    engine.observer = StepMeter()
    engine.start()
    yield engine
    run(engine.stop())


def _meter(engine: Engine) -> StepMeter:
    assert isinstance(engine.observer, StepMeter)
    return engine.observer


def _job(engine: Engine, rows: int, value: float = 0.5, cache: KVCache | None = None) -> StepJob:
    values = np.full((rows, engine.info.hidden_size), value, np.float32)
    kept = KVCache() if cache is None else cache
    return StepJob(kept, kept.length, Tensor.from_f32(values, "f32"), "last", "f32")


def _outcome(engine: Engine, job: StepJob, **options: Any) -> Outcome:
    found: list[Outcome] = []
    ended = threading.Event()

    def done(outcome: Outcome) -> None:
        found.append(outcome)
        ended.set()

    engine.post(job, done, **options)
    assert ended.wait(30)
    return found[0]


def test_answered_steps_are_counted_by_kind_before_they_are_answered(engine: Engine) -> None:
    cache, meter = KVCache(), _meter(engine)
    for rows in (300, 1, 1):
        _outcome(engine, _job(engine, rows, cache=cache))
    assert (meter.prefill.answered, meter.prefill.rows, meter.prefill.tokens) == (1, 300, 300)
    assert (meter.decode.answered, meter.decode.rows, meter.decode.tokens) == (2, 2, 2)
    assert meter.turns.per_token.cumulative()[-1] == ("+Inf", 2)
    assert meter.queued == 0


def test_a_step_that_fails_is_counted_and_adds_no_time(engine: Engine) -> None:
    meter = _meter(engine)
    assert isinstance(_outcome(engine, _job(engine, 3, _POISON)), RuntimeError)
    assert (meter.prefill.failed, meter.prefill.answered, meter.prefill.tokens) == (1, 0, 0)
    assert meter.prefill.compute.cumulative()[-1] == ("+Inf", 0)
    assert meter.queued == 0


def test_a_step_that_nobody_waits_for_is_abandoned(engine: Engine) -> None:
    meter = _meter(engine)
    _outcome(engine, _job(engine, 1), wanted=lambda: False)
    assert (meter.decode.abandoned, meter.decode.failed, meter.decode.rows) == (1, 0, 0)
    assert meter.queued == 0


def test_the_times_of_a_step_are_those_that_its_answer_tells(engine: Engine) -> None:
    meter = _meter(engine)
    outcome = _outcome(engine, _job(engine, 4))
    assert not isinstance(outcome, Exception)
    assert meter.prefill.compute.total == pytest.approx(outcome.compute_us / 1e6)
    assert meter.prefill.queue.total == pytest.approx(outcome.queue_us / 1e6)
    took = (outcome.compute_us + outcome.queue_us) / 1e6
    assert meter.turns.first_token.total == pytest.approx(took)
