"""The queue in front of the model thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from split_server.engine.engine import Engine
from split_server.engine.job import Abandoned, EngineResult, StepJob
from split_server.engine.packed import Slice
from split_server.engine.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_wire.errors import Overloaded, ShuttingDown
from split_wire.tensor import Tensor
from tests.engines import tiny_backbone

ROW = Tensor("f32", (1, 64), bytes(256))


class GatedRunner(ModelRunner):
    """Runs a step only when the test lets it; remembers the order."""

    def __init__(self, backbone: Any) -> None:
        super().__init__(backbone)
        self.gate = threading.Semaphore(0)
        self.order: list[list[KVCache]] = []
        self.threads: set[str] = set()

    def warm_up(self) -> None:
        """Nothing: the gate is shut."""

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        self.gate.acquire()
        self.order.append([part.cache for part in slices])
        self.threads.add(threading.current_thread().name)
        return super().run(slices)


def engine_of(path: Path, max_queue: int = 8) -> tuple[Engine, GatedRunner]:
    backbone = tiny_backbone(path)
    runner = GatedRunner(backbone)
    return Engine(runner, backbone.info, max_queue), runner


def test_steps_run_on_the_model_thread_in_the_order_they_came(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        engine.start()
        caches = [KVCache() for _ in range(4)]
        steps = [engine.submit(StepJob(cache, 0, ROW, "last", "f32")) for cache in caches]
        runner.gate.release(4)
        results = await asyncio.gather(*map(asyncio.wrap_future, steps))
        assert runner.order == caches
        assert runner.threads == {"model"}
        assert all(isinstance(result, EngineResult) for result in results)
        await engine.stop()

    asyncio.run(scenario())


def test_a_full_queue_refuses_one_more_and_says_when_to_come_back(tiny_path: Path) -> None:
    engine, _ = engine_of(tiny_path, max_queue=2)
    for _ in range(2):
        engine.submit(StepJob(KVCache(), 0, ROW, "last", "f32"))
    with pytest.raises(Overloaded) as refusal:
        engine.submit(StepJob(KVCache(), 0, ROW, "last", "f32"))
    assert refusal.value.retry_after is not None


def test_stopping_finishes_what_was_queued_and_refuses_the_rest(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        engine.start()
        queued = engine.submit(StepJob(KVCache(), 0, ROW, "last", "f32"))
        stopping = asyncio.create_task(engine.stop())
        await asyncio.sleep(0)
        with pytest.raises(ShuttingDown):
            engine.submit(StepJob(KVCache(), 0, ROW, "last", "f32"))
        runner.gate.release()
        await stopping
        assert queued.result().hidden.shape == (1, 64)

    asyncio.run(scenario())


def test_an_abandoned_step_is_not_run(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        abandoned = engine.submit(StepJob(KVCache(), 0, ROW, "last", "f32"))
        wanted = engine.submit(StepJob(KVCache(), 0, ROW, "last", "f32"))
        abandoned.cancel()
        engine.start()
        runner.gate.release(2)
        await asyncio.wrap_future(wanted)
        assert len(runner.order) == 1
        await engine.stop()

    asyncio.run(scenario())


def test_a_failing_step_fails_alone(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        engine.start()
        too_wide = Tensor("f32", (1, 63), bytes(252))
        bad = engine.submit(StepJob(KVCache(), 0, too_wide, "last", "f32"))
        good = engine.submit(StepJob(KVCache(), 0, ROW, "last", "f32"))
        runner.gate.release(2)
        assert (await asyncio.wrap_future(good)).hidden.shape == (1, 64)
        assert isinstance(bad.exception(), RuntimeError)
        await engine.stop()

    asyncio.run(scenario())


def test_a_first_pass_that_fails_fails_the_start(tiny_path: Path) -> None:
    class Broken(ModelRunner):
        def warm_up(self) -> None:
            raise MemoryError

    backbone = tiny_backbone(tiny_path)
    with pytest.raises(MemoryError):
        Engine(Broken(backbone), backbone.info).start()


def test_stopping_can_be_given_up_while_a_step_runs(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        engine.start()
        running = engine.submit(StepJob(KVCache(), 0, ROW, "last", "f32"))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await engine.stop()
        runner.gate.release()
        await asyncio.wrap_future(running)
        await engine.stop()

    asyncio.run(scenario())


def test_a_step_that_is_no_longer_wanted_is_not_run(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        outcomes: list[object] = []
        job = StepJob(KVCache(), 0, ROW, "last", "f32")
        engine.post(job, outcomes.append, lambda: False)
        engine.post(job, outcomes.append, lambda: True)
        engine.start()
        runner.gate.release(2)
        await engine.stop()
        assert len(outcomes) == len(runner.order) == 1

    asyncio.run(scenario())
