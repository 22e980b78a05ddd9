"""Faults that escape an iteration of the model's thread: nobody waits for ever."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from split_server.engine.engine import Engine
from split_server.engine.job import EngineResult, StepJob
from split_server.engine.model.runner import ModelRunner
from split_server.engine.observer import StepObserver
from split_server.engine.scheduler import Plan
from split_server.engine.vitals import Vitals
from split_server.kv.cache import KVCache
from split_wire.errors import ModelStopped
from split_wire.tensor import Tensor
from tests.engines import run, submit, tiny_backbone


class Faulty(StepObserver):
    """Fails when it is told of a pass, as long as there are ``faults``."""

    def __init__(self, *faults: BaseException) -> None:
        self.faults = list(faults)

    def passed(self, plan: Plan, seconds: float) -> None:
        if self.faults:
            raise self.faults.pop(0)


def job(count: int = 1, cache: KVCache | None = None, start: int = 0) -> StepJob:
    rows = Tensor("f32", (count, 64), bytes(256 * count))
    return StepJob(KVCache() if cache is None else cache, start, rows, "last", "f32")


def faulty_engine(path: Path, *faults: BaseException) -> Engine:
    backbone = tiny_backbone(path)
    engine = Engine(ModelRunner(backbone), backbone.info)
    engine.observer = Faulty(*faults)
    return engine


@pytest.mark.parametrize("fault", [RuntimeError, MemoryError, SystemExit])
def test_after_a_fault_what_waits_is_refused_and_the_thread_begins_once_more(
    tiny_path: Path, fault: Callable[[], BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    engine = faulty_engine(tiny_path)
    cache = KVCache()
    engine.start()
    submit(engine, job(5, cache)).result(timeout=30)
    assert isinstance(engine.observer, Faulty)
    engine.observer.faults.append(fault())
    with pytest.raises(ModelStopped):
        submit(engine, job(2, cache, 3)).result(timeout=30)
    again = submit(engine, job(1, cache, 3)).result(timeout=30)
    assert isinstance(again, EngineResult)
    assert cache.length == 4
    assert (engine.vitals.faults, engine.vitals.stopped) == (1, False)
    told = [record.levelno for record in caplog.records if record.name.endswith("vitals")]
    assert told == [logging.CRITICAL, logging.ERROR]
    run(engine.stop())


def test_a_step_that_is_half_done_is_refused_with_its_cache_as_before(tiny_path: Path) -> None:
    engine = faulty_engine(tiny_path, RuntimeError())
    long = job(600)
    waiting = [submit(engine, long), submit(engine, job())]
    engine.start()
    for step in waiting:
        assert isinstance(step.exception(timeout=30), ModelStopped)
    assert long.cache.length == 0
    run(engine.stop())


def test_the_second_fault_stops_the_model_for_good(tiny_path: Path) -> None:
    engine = faulty_engine(tiny_path, RuntimeError(), RuntimeError())
    engine.start()
    for _ in range(2):
        assert isinstance(submit(engine, job()).exception(timeout=30), ModelStopped)
    assert engine.vitals.stopped
    with pytest.raises(ModelStopped):
        submit(engine, job())
    run(engine.stop())


def test_where_a_cache_cannot_be_undone_the_model_stops_at_once(tiny_path: Path) -> None:
    class Stuck(KVCache):
        def truncate(self, length: int) -> None:
            raise RuntimeError

    engine = faulty_engine(tiny_path, RuntimeError())
    waiting = [submit(engine, job(1, Stuck())), submit(engine, job())]
    engine.start()
    for step in waiting:
        assert isinstance(step.exception(timeout=30), ModelStopped | RuntimeError)
    run(engine.stop())
    assert engine.vitals.stopped


def test_where_no_pass_goes_through_any_more_the_model_stops(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)

    class Broken(ModelRunner):
        warmed = False

        def warm_up(self) -> None:
            if self.warmed:
                raise RuntimeError
            self.warmed = True

    engine = Engine(Broken(backbone), backbone.info)
    engine.observer = Faulty(RuntimeError())
    engine.start()
    assert isinstance(submit(engine, job()).exception(timeout=30), ModelStopped)
    run(engine.stop())
    assert engine.vitals.stopped


def test_a_step_that_came_while_the_model_stopped_is_refused_too(tiny_path: Path) -> None:
    judged = threading.Semaphore(0)

    class Watched(Vitals):
        def judge(self, *, sound: bool) -> bool:
            goes_on = super().judge(sound=sound)
            judged.release()
            return goes_on

    engine = faulty_engine(tiny_path, RuntimeError(), RuntimeError())
    engine.vitals = Watched()
    engine.start()
    for _ in range(2):
        submit(engine, job()).exception(timeout=30)
        assert judged.acquire(timeout=30)
    # Whoever posts has read this just before.
    engine.vitals.stopped = False
    assert isinstance(submit(engine, job()).exception(timeout=30), ModelStopped)
    run(engine.stop())
