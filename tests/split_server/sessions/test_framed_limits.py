"""What a service cannot take: too many sessions, too many steps, no memory, a model that fails."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from split_server.memory.budget import BudgetLimits
from split_server.sessions.making_way import StoreLimits
from split_wire.client import StepCompleted
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import Close, Failure, Ping
from tests import oracle
from tests.engines import (
    Device,
    HeldRunner,
    TinySessions,
    run,
    serving,
    tiny_backbone,
    tiny_service,
)

PROMPT = list(range(11, 31))


def test_a_principal_with_too_many_steps_under_way_is_told_to_wait(tiny_path: Path) -> None:
    async def scenario() -> str:
        runner = HeldRunner(tiny_backbone(tiny_path))
        async with serving(tiny_path, runner=runner, max_queued=1) as service:
            one = await Device(service, tiny_path).open()
            two = await Device(service, tiny_path).open()
            other = await Device(service, tiny_path, "bob").open()
            first = asyncio.create_task(service.handle("local", one.frame(0, PROMPT)))
            await asyncio.sleep(0)
            code = await two.refused(two.frame(0, PROMPT))
            third = asyncio.create_task(service.handle("bob", other.frame(0, PROMPT)))
            runner.gate.release(5)
            assert (await first).error is None
            assert (await third).error is None
            # The refused step kept its number and succeeds when it is sent again.
            assert isinstance(await two.send(two.frame(0, PROMPT)), StepCompleted)
            return code

    assert run(scenario()) == "overloaded"


def test_an_evicted_session_is_unknown_and_its_conversation_can_be_sent_again(
    tiny_path: Path,
) -> None:
    async def scenario() -> list[int]:
        async with serving(tiny_path, limits=StoreLimits(max_sessions=1)) as service:
            device = await Device(service, tiny_path).open()
            ids = await device.greedy(PROMPT, 2)
            await Device(service, tiny_path).open()
            assert await device.refused(device.frame(len(PROMPT) + 1, ids[1:])) == "unknown_session"
            await device.open()
            return ids + await device.greedy(PROMPT + ids, 3)

    assert run(scenario()) == oracle.greedy(tiny_path, PROMPT, 5)


def test_a_step_that_does_not_fit_the_cache_budget_is_refused_and_changes_nothing(
    tiny_path: Path,
) -> None:
    async def scenario() -> list[int]:
        # 768 bytes a position; replies kept for a replay take some of it.
        async with serving(tiny_path, budget=BudgetLimits(40 * 768)) as service:
            device = await Device(service, tiny_path).open()
            ids = await device.greedy(PROMPT, 2)
            start = len(PROMPT) + 1
            assert await device.refused(device.frame(start, ids[1:] + PROMPT)) == "cache_full"
            return ids + await device.greedy(PROMPT + ids, 3, start=start)

    assert run(scenario()) == oracle.greedy(tiny_path, PROMPT, 5)


def test_a_failing_model_answers_with_a_reference_and_serves_on(
    tiny_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> list[int]:
        backbone = tiny_backbone(tiny_path)
        healthy = backbone.module
        failing = iter([False, False, False, True])

        def module(**arguments: Any) -> Any:
            if next(failing, False):
                raise RuntimeError("broken")
            return healthy(**arguments)

        service = tiny_service(replace(backbone, module=module))
        service.steps.start()
        device = await Device(service, tiny_path).open()
        assert await device.refused(device.frame(0, PROMPT)) == "internal_error"
        ids = await device.greedy(PROMPT, 3)
        await service.steps.stop()
        return ids

    assert run(scenario()) == oracle.greedy(tiny_path, PROMPT, 3)
    assert "broken" in caplog.text


def test_stopping_answers_what_was_admitted_and_refuses_the_rest(tiny_path: Path) -> None:
    async def scenario() -> None:
        runner = HeldRunner(tiny_backbone(tiny_path))
        service = tiny_service(tiny_backbone(tiny_path), runner=runner)
        service.steps.start()
        device = await Device(service, tiny_path).open()
        admitted = asyncio.create_task(service.handle("local", device.frame(0, PROMPT)))
        await asyncio.sleep(0)
        stopping = asyncio.create_task(service.steps.stop())
        await asyncio.sleep(0)
        refused = await service.handle("local", encode_message(Ping()))
        assert refused.error is not None
        assert refused.error.code == "shutting_down"
        runner.gate.release(5)
        await stopping
        assert (await admitted).error is None

    run(scenario())


def test_devices_that_wait_for_a_session_do_not_take_each_others(tiny_path: Path) -> None:
    now = [0.0]
    limits = StoreLimits(max_sessions=2, max_sessions_per_principal=2, active=5.0)

    async def chat(service: TinySessions) -> None:
        device = await Device(service, tiny_path).open()
        await device.greedy(PROMPT, 2)
        await device.send(encode_message(Close(device.protocol.opened.session)))

    async def scenario() -> None:
        options = {"limits": limits, "clock": lambda: now[0], "open_within": 30.0}
        async with serving(tiny_path, **options) as service:
            idle = [await Device(service, tiny_path).open() for _ in range(2)]
            chats = [asyncio.create_task(chat(service)) for _ in range(6)]
            await asyncio.sleep(0)
            now[0] += 10
            await asyncio.gather(*chats)
            assert [await device.refused(device.frame(0, PROMPT)) for device in idle] == [
                "unknown_session"
            ] * 2

    run(scenario())


def test_a_newcomer_that_is_refused_is_told_when_a_session_may_be_free(tiny_path: Path) -> None:
    now = [0.0]
    limits = StoreLimits(max_sessions=1, max_sessions_per_principal=1, active=5.0)

    async def scenario() -> None:
        async with serving(tiny_path, limits=limits, clock=lambda: now[0]) as service:
            first = await Device(service, tiny_path).open()
            now[0] += 2
            answer = await service.handle("local", Device(service, tiny_path).protocol.open())
            refusal = decode_server_message(answer.frame, service.framed.max_frame_bytes)
            assert isinstance(refusal, Failure)
            assert (refusal.code, refusal.retryable) == ("too_many_sessions", True)
            assert refusal.retry_after == 3.0
            await first.step(0, PROMPT)

    run(scenario())
