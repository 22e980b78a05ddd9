"""Steps whose admission fails anywhere: nothing stays counted, and nothing wrong is answered."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from split_server.memory.budget import BudgetLimits
from split_server.memory.measured import MeasuredRoom
from split_wire.client import StepCompleted
from split_wire.errors import ShuttingDown
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import Device, TinySessions, run, serving
from tests.split_server.memory.planning import Memory, planner_with
from tests.split_server.sessions.failing_calls import FailingCalls

PROMPT, SECOND = [11, 12, 13, 14], [5, 6, 7]


def measure_memory(service: TinySessions) -> None:
    """Have room for caches measured, as a server does."""
    room = MeasuredRoom(BudgetLimits(), planner_with(Memory(1 << 40)))
    service.store._room = room


def assert_nothing_counts(service: TinySessions) -> None:
    assert not service.steps._entrance._gate._queued
    assert all(session.running == 0 for session in service.store._all())
    assert service.steps._engine._places._value == service.steps._engine._max_queue


async def attempt(service: TinySessions, device: Device, calls: FailingCalls) -> StepCompleted:
    """``SECOND`` with a call failing, and then the same bytes again."""
    frame = device.frame(len(PROMPT), SECOND)
    with calls.active():
        answer = await service.handle("local", frame)
    if calls.failed:
        assert answer.error is not None, calls.failed
        assert answer.error.code == "internal_error", calls.failed
        assert_nothing_counts(service)
        answer = await service.handle("local", frame)
    result = device.protocol.receive(answer.frame)
    assert isinstance(result, StepCompleted), calls.failed
    return result


def test_whatever_call_fails_the_same_bytes_again_get_their_own_result(tiny_path: Path) -> None:
    async def scenario() -> list[str]:
        failed, calls = [], FailingCalls("_admit")
        async with serving(tiny_path) as service:
            measure_memory(service)
            device = await Device(service, tiny_path).open()
            await device.step(0, PROMPT)
            wanted = (await device.step(len(PROMPT), SECOND)).hidden
            while not failed or failed[-1]:
                # Another reply than the one that is waited for is the last one.
                await device.step(len(PROMPT), [3])
                result = await attempt(service, device, calls)
                np.testing.assert_allclose(result.hidden, wanted, rtol=1e-4, atol=1e-4)
                failed.append(calls.failed)
        return failed

    failed = run(scenario())
    assert {"take in reserve", "post in post", "put in post", "following in admit"} <= set(failed)


def test_another_step_is_taken_after_one_whose_admission_failed(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            await device.step(0, PROMPT)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(service.store, "reserve", lambda *_: 1 / 0)
                assert await device.refused(device.frame(len(PROMPT), [5])) == "internal_error"
            await device.step(1, [9, 9])

    run(scenario())


@pytest.mark.parametrize("function", ["append", "_begun"])
def test_the_original_protocols_steps_are_counted_out_whatever_fails(
    tiny_path: Path, function: str
) -> None:
    rows = Tensor.from_f32(oracle.embeddings(tiny_path, PROMPT).numpy(), "f32")

    async def scenario() -> None:
        async with serving(tiny_path) as service:
            calls = FailingCalls(function)
            while True:
                with calls.active():
                    try:
                        await service.original.append("local", "chat", rows, False)
                    except OSError:
                        assert calls.failed
                await service.steps.tasks.drain()
                assert_nothing_counts(service)
                if not calls.failed:
                    return

    run(scenario())


def test_a_step_in_this_process_is_counted_out_whatever_fails(tiny_path: Path) -> None:
    rows = Tensor.from_f32(oracle.embeddings(tiny_path, PROMPT).numpy(), "f32")

    async def scenario() -> None:
        async with serving(tiny_path) as service:
            session = await service.in_process.opened("local")
            request = service.in_process.request(session, 0, rows)
            calls = FailingCalls("begin")
            while True:
                with calls.active():
                    try:
                        service.in_process.begin(session, request, lambda _: None, lambda: True)
                    except OSError:
                        assert calls.failed
                await service.steps.tasks.drain()
                await asyncio.sleep(0)
                assert_nothing_counts(service)
                if not calls.failed:
                    return

    run(scenario())


def test_an_open_that_fails_leaves_no_session(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            calls = FailingCalls("_open")
            while True:
                device = Device(service, tiny_path)
                with calls.active():
                    answer = await service.handle("local", device.protocol.open())
                assert len(service.store) == (0 if answer.error else 1), calls.failed
                if not calls.failed:
                    return

    run(scenario())


class Left:
    """Is collected in a cycle, with a finaliser as a file or a loop that nobody closed has."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        len(str(self))


def leaving(new_id: Callable[[], str]) -> Callable[[], str]:
    def made() -> str:
        Left()
        return new_id()

    return made


def test_what_collecting_memory_calls_is_no_call_that_fails(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            calls, device = FailingCalls("_open"), Device(service, tiny_path)
            service.store._new_id = leaving(service.store._new_id)
            # All that fails by itself.
            while not calls.tried or calls.failed:
                with calls.active():
                    await service.handle("local", Device(service, tiny_path).protocol.open())
            before = gc.get_threshold()
            gc.set_threshold(1)
            try:
                for _ in range(5):
                    with calls.active():
                        await service.handle("local", device.protocol.open())
                    assert not calls.failed
            finally:
                gc.set_threshold(*before)

    run(scenario())


def test_a_server_that_stops_says_so_and_counts_nothing(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            service.steps._engine._stopping = True
            assert await device.refused(device.frame(0, PROMPT)) == ShuttingDown.code
            assert_nothing_counts(service)

    run(scenario())
