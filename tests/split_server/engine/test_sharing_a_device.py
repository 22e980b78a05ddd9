"""Two engines of real models that take turns on one device."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from split_server.engine.device_turns import DeviceTurns, Seat
from split_server.engine.engine import Engine
from split_server.engine.errand import Errand
from split_server.engine.job import StepJob
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_wire.tensor import Tensor
from tests import oracle
from tests.checkpoints import tiny_checkpoint
from tests.crowds import Crowd
from tests.engines import run, submit, tiny_backbone
from tests.patience import until


class Counting(ModelRunner):
    """Counts who computes at the same time, on any of them; fails where it is told to."""

    lock = threading.Lock()
    inside = most = 0
    fails = False
    gate: threading.Event | None = None

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        with Counting.lock:
            Counting.inside += 1
            Counting.most = max(Counting.most, Counting.inside)
        try:
            if self.gate is not None:
                assert self.gate.wait(60)
            if self.fails:
                raise RuntimeError("a pass fails")
            return super().run(slices)
        finally:
            with Counting.lock:
                Counting.inside -= 1


@pytest.fixture(autouse=True)
def nobody_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Counting, "inside", 0)
    monkeypatch.setattr(Counting, "most", 0)


def engine_of(path: Path, turns: DeviceTurns) -> tuple[Engine, Counting]:
    backbone = tiny_backbone(path)
    runner = Counting(backbone)
    return Engine(runner, backbone.info, turns=turns), runner


def job() -> StepJob:
    return StepJob(KVCache(), 0, Tensor("f32", (1, 64), bytes(256)), "last", "f32")


def test_crowds_on_two_models_get_the_tokens_that_they_get_alone(
    tiny_path: Path, tmp_path: Path
) -> None:
    turns = DeviceTurns()
    paths = [tiny_path, tiny_checkpoint("llama", tmp_path / "llama")]
    # Hugging Face's own models are not made by several threads at a time.
    for path in paths:
        oracle.model(path)
    engines = [engine_of(path, turns)[0] for path in paths]
    for engine in engines:
        engine.start()
    crowds = [
        Crowd(path, engine, seed, KVCache)
        for seed, (path, engine) in enumerate(zip(paths, engines, strict=True))
    ]

    def talk(crowd: Crowd) -> int:
        for _ in range(40):
            crowd.round()
        for speaker in list(crowd.speakers):
            crowd.take(speaker)
            crowd.leave(speaker)
        return crowd.replies

    with ThreadPoolExecutor(2) as threads:
        assert all(replies > 5 for replies in threads.map(talk, crowds))
    assert Counting.most == 1
    for engine in engines:
        run(engine.stop())
    assert turns.empty


@pytest.mark.parametrize("family", ["qwen2", "llama", "gemma3_text"])
def test_a_pass_has_the_same_bits_while_another_model_is_loaded(
    family: str, tiny_family: Callable[[str], Path]
) -> None:
    # Hugging Face sets the default dtype of the whole process while it makes a model.
    runner = ModelRunner(tiny_backbone(tiny_family(family)))
    rows = torch.ones(3, 64)
    [expected] = runner.run([Slice(KVCache(), 0, rows)])
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        [found] = runner.run([Slice(KVCache(), 0, rows)])
    finally:
        torch.set_default_dtype(before)
    assert torch.equal(found, expected)


def test_a_pass_that_fails_gives_the_turn_back(tiny_path: Path) -> None:
    turns = DeviceTurns()
    (faulty, runner), (other, _) = engine_of(tiny_path, turns), engine_of(tiny_path, turns)
    faulty.start()
    other.start()
    runner.fails = True
    with pytest.raises(RuntimeError, match="a pass fails"):
        submit(faulty, job()).result(60)
    assert submit(other, job()).result(60).hidden.shape == (1, 64)
    runner.fails = False
    assert submit(faulty, job()).result(60).hidden.shape == (1, 64)
    run(faulty.stop())
    run(other.stop())


def test_an_engine_that_waits_for_its_turn_answers_before_it_stops(tiny_path: Path) -> None:
    turns = DeviceTurns()
    (busy, runner), (waiting, _) = engine_of(tiny_path, turns), engine_of(tiny_path, turns)
    busy.start()
    waiting.start()
    runner.gate = threading.Event()
    first = submit(busy, job())
    until(lambda: Counting.inside == 1)
    second = submit(waiting, job())
    with ThreadPoolExecutor(1) as thread:
        stopped = thread.submit(lambda: run(waiting.stop()))
        assert not second.done()
        runner.gate.set()
        stopped.result(60)
    assert second.result(0).hidden.shape == (1, 64)
    assert first.result(60).hidden.shape == (1, 64)
    run(busy.stop())


def test_an_errand_waits_for_the_turn_of_its_model(tiny_path: Path) -> None:
    turns = DeviceTurns()
    (busy, runner), (other, _) = engine_of(tiny_path, turns), engine_of(tiny_path, turns)
    busy.start()
    other.start()
    runner.gate = threading.Event()
    step = submit(busy, job())
    until(lambda: Counting.inside == 1)
    beside: Future[int] = Future()
    other.send(Errand(lambda _: beside.set_result(Counting.inside), beside.set_exception))
    assert not beside.done()
    runner.gate.set()
    assert beside.result(60) == 0
    step.result(60)
    run(busy.stop())
    run(other.stop())


def test_a_model_that_does_not_start_leaves_the_turns_to_the_others(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = DeviceTurns()
    engine, runner = engine_of(tiny_path, turns)
    monkeypatch.setattr(runner, "fails", True)
    with pytest.raises(RuntimeError, match="a pass fails"):
        engine.start()
    until(lambda: turns.empty)


def test_the_first_passes_of_a_model_give_way_to_those_of_another_one(tiny_path: Path) -> None:
    turns = DeviceTurns()
    first = turns.seat()
    engine, runner = engine_of(tiny_path, turns)
    runner.gate = threading.Event()
    starting = threading.Thread(target=engine.start)
    starting.start()
    until(lambda: Counting.inside)
    # It has no turn, so nobody waits for its pass.
    with first.turn():
        runner.gate.set()
        until(lambda: turns.aside)
        assert starting.is_alive()
    starting.join(60.0)
    run(engine.stop())


def test_a_model_that_does_not_start_is_stopped_before_its_thread_has_ended(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, runner = engine_of(tiny_path, DeviceTurns())
    runner.fails, stopped, left = True, threading.Event(), DeviceTurns.left

    def later(turns: DeviceTurns, seat: Seat) -> None:
        assert stopped.wait(60.0)
        left(turns, seat)

    async def stop() -> None:
        stopping = asyncio.create_task(engine.stop())
        await asyncio.sleep(0)
        stopped.set()
        await asyncio.wait_for(stopping, 10.0)

    monkeypatch.setattr(DeviceTurns, "left", later)
    with pytest.raises(RuntimeError, match="a pass fails"):
        engine.start()
    run(stop())
