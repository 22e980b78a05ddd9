"""The queue in front of the model thread, and what that thread makes of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.engine.engine import Engine
from split_server.engine.job import Abandoned, EngineResult, StepJob
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_wire.errors import Overloaded, ShuttingDown
from split_wire.tensor import Tensor
from tests.engines import submit, tiny_backbone


class GatedRunner(ModelRunner):
    """Runs a pass only when the test lets it; remembers which caches and rows each had."""

    def __init__(self, backbone: Any) -> None:
        super().__init__(backbone)
        self.gate = threading.Semaphore(0)
        self.entered = threading.Semaphore(0)
        self.passes: list[list[tuple[KVCache, int]]] = []
        self.threads: set[str] = set()

    def warm_up(self) -> None:
        """Nothing: the gate is shut."""

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        self.entered.release()
        assert self.gate.acquire(timeout=30)
        self.passes.append([(part.cache, part.rows) for part in slices])
        self.threads.add(threading.current_thread().name)
        return super().run(slices)


def rows(count: int) -> Tensor:
    return Tensor("f32", (count, 64), bytes(256 * count))


def job(count: int = 1, cache: KVCache | None = None, principal: str = "") -> StepJob:
    return StepJob(cache or KVCache(), 0, rows(count), "last", "f32", principal)


def engine_of(path: Path, max_queue: int = 64) -> tuple[Engine, GatedRunner]:
    backbone = tiny_backbone(path)
    runner = GatedRunner(backbone)
    return Engine(runner, backbone.info, max_queue), runner


def run(scenario: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await scenario

    asyncio.run(bounded())


async def result(step: Future[EngineResult]) -> EngineResult:
    return await asyncio.wrap_future(step)


def test_steps_that_wait_share_one_pass_on_the_model_thread(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        jobs = [job() for _ in range(4)]
        steps = [submit(engine, one) for one in jobs]
        engine.start()
        runner.gate.release()
        results = [await result(step) for step in steps]
        assert runner.passes == [[(one.cache, 1) for one in jobs]]
        assert runner.threads == {"model"}
        assert all(isinstance(one, EngineResult) for one in results)
        await engine.stop()

    run(scenario())


def test_a_long_step_is_served_in_slices_beside_short_ones(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        long = job(400)
        prefill = submit(engine, long)
        engine.start()
        assert await asyncio.to_thread(runner.entered.acquire, timeout=30)
        tokens = [submit(engine, job()), submit(engine, job())]
        runner.gate.release()
        assert await asyncio.to_thread(runner.entered.acquire, timeout=30)
        tokens += [submit(engine, job()), submit(engine, job())]
        runner.gate.release(60)
        for token in tokens:
            assert (await result(token)).hidden.shape == (1, 64)
        assert (await result(prefill)).hidden.shape == (1, 64)
        assert long.cache.length == 400
        beside = runner.passes[1]
        assert [count for _, count in beside] == [1, 1, 16]
        assert beside[2][0] is long.cache
        served = [count for one in runner.passes for cache, count in one if cache is long.cache]
        assert sum(served) == 400
        assert served[0] == 256
        await engine.stop()

    run(scenario())


def test_a_full_queue_refuses_one_more_and_says_when_to_come_back(tiny_path: Path) -> None:
    engine, _ = engine_of(tiny_path, max_queue=2)
    for _ in range(2):
        submit(engine, job())
    with pytest.raises(Overloaded) as refusal:
        submit(engine, job())
    assert refusal.value.retry_after is not None
    assert 0.1 <= refusal.value.retry_after <= 60


def test_a_place_in_the_queue_is_free_again_when_its_step_has_ended(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path, max_queue=2)
        steps = [submit(engine, job()), submit(engine, job(63))]
        engine.start()
        runner.gate.release(10)
        for step in steps:
            await result(step)
        again = [submit(engine, job()) for _ in range(2)]
        for step in again:
            await result(step)
        await engine.stop()

    run(scenario())


def test_stopping_finishes_what_was_queued_and_refuses_the_rest(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        engine.start()
        queued = [submit(engine, job()), submit(engine, job(300))]
        stopping = asyncio.create_task(engine.stop())
        await asyncio.sleep(0)
        with pytest.raises(ShuttingDown):
            submit(engine, job())
        runner.gate.release(20)
        await stopping
        assert [step.result().hidden.shape for step in queued] == [(1, 64), (1, 64)]

    run(scenario())


def test_an_abandoned_step_is_not_run(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        abandoned, wanted = submit(engine, job()), submit(engine, job())
        abandoned.cancel()
        engine.start()
        runner.gate.release(2)
        await result(wanted)
        assert [len(one) for one in runner.passes] == [1]
        await engine.stop()

    run(scenario())


def test_a_long_step_that_nobody_waits_for_any_more_ends_between_its_slices(
    tiny_path: Path,
) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        long = job(500)
        prefill = submit(engine, long)
        engine.start()
        assert await asyncio.to_thread(runner.entered.acquire, timeout=30)
        prefill.cancel()
        runner.gate.release(20)
        await result(submit(engine, job()))
        assert long.cache.length == 0
        assert sum(count for one in runner.passes for _, count in one) == 257
        await engine.stop()

    run(scenario())


def test_whoever_posted_a_step_is_told_that_it_was_abandoned(tiny_path: Path) -> None:
    async def scenario() -> None:
        engine, runner = engine_of(tiny_path)
        outcomes: list[object] = []
        engine.post(job(), outcomes.append, lambda: False)
        engine.post(job(), outcomes.append, lambda: True)
        engine.start()
        runner.gate.release(2)
        await engine.stop()
        assert [type(outcome) for outcome in outcomes] == [Abandoned, EngineResult]
        assert len(runner.passes) == 1

    run(scenario())


@pytest.mark.parametrize("count", [1, 40])
def test_a_failing_step_fails_alone(tiny_path: Path, count: int) -> None:
    async def scenario() -> None:
        backbone = tiny_backbone(tiny_path)
        engine = Engine(ModelRunner(backbone), backbone.info)
        too_wide = Tensor("f32", (count, 63), bytes(252 * count))
        bad = submit(engine, StepJob(KVCache(), 0, too_wide, "last", "f32"))
        good = [submit(engine, job()), submit(engine, job(40))]
        engine.start()
        for step in good:
            assert (await result(step)).hidden.shape == (1, 64)
        assert isinstance(bad.exception(timeout=30), RuntimeError)
        await engine.stop()

    run(scenario())


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
        running = submit(engine, job())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await engine.stop()
        runner.gate.release()
        await result(running)
        await engine.stop()

    run(scenario())


@pytest.mark.parametrize("count", [1, 40])
def test_rows_that_cannot_be_brought_in_fail_their_step_alone(tiny_path: Path, count: int) -> None:
    class Short(ModelRunner):
        def load(self, embeddings: Tensor) -> torch.Tensor:
            if embeddings.rows == count:
                raise MemoryError
            return super().load(embeddings)

    async def scenario() -> None:
        backbone = tiny_backbone(tiny_path)
        engine = Engine(Short(backbone), backbone.info)
        bad = submit(engine, job(count))
        good = [submit(engine, job(2)), submit(engine, job(50))]
        engine.start()
        for step in good:
            assert (await result(step)).hidden.shape == (1, 64)
        assert isinstance(bad.exception(timeout=30), MemoryError)
        await engine.stop()

    run(scenario())
