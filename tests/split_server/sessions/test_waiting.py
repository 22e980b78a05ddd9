"""Chats whose caches do not fit into memory at once: they wait, and none takes another one's."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from split_server.kv.capacity import capacity_for
from split_server.memory.budget import BudgetLimits
from split_server.sessions.making_way import StoreLimits
from split_wire.client import StepCompleted, StepFailed
from split_wire.errors import CacheFull
from tests import oracle
from tests.engines import Device, TinySessions, run, serving, tiny_backbone
from tests.patience import PATIENCE

_PROMPT, _TOKENS = 40, 6
_CHAIN_BYTES = 64 * 64


def _memory_of(path: Path, chats: int) -> BudgetLimits:
    """What ``chats`` of them take, and not one more."""
    size = capacity_for(_PROMPT + _TOKENS) * tiny_backbone(path).info.kv_bytes_per_position
    total = chats * (size + _CHAIN_BYTES)
    return BudgetLimits(total, total)


def _options(path: Path, chats: int, **options: Any) -> dict[str, Any]:
    # In use for as long as the test may take: only who is done makes way.
    limits = StoreLimits(128, 128, ttl=1e6, active=1e5)
    return {
        "limits": limits,
        "budget": _memory_of(path, chats),
        "clock": time.monotonic,
        "open_within": PATIENCE,
        "max_queued": 128,
    } | options


async def _somebody_waits(service: TinySessions) -> None:
    for _ in range(1_000_000):
        if len(service.steps._entrance._claims):
            return
        await asyncio.sleep(0)
    pytest.fail("nobody waits")


async def _chat(service: TinySessions, path: Path, number: int) -> Device:
    """A whole chat; every step of it must succeed."""
    device = await Device(service, path).open()
    ids = [1 + (number + position) % 200 for position in range(_PROMPT)]
    await device.greedy(ids, _TOKENS)
    await device.send(device.protocol.close() or b"")
    return device


def test_64_chats_in_the_memory_of_32_all_come_to_their_end_and_none_sends_a_row_twice(
    tiny_path: Path,
) -> None:
    async def scenario() -> int:
        async with serving(tiny_path, **_options(tiny_path, 32)) as service:
            asked = service.store.reserve
            rows = 0

            def reserve(*arguments: Any) -> None:
                nonlocal rows
                asked(*arguments)
                rows += 1

            service.store.reserve = reserve  # type: ignore[method-assign]
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(_chat(service, tiny_path, n) for n in range(64)))
            assert len(service.store) == 0
            return rows

    # Of steps that were admitted: one for each token.
    assert run(scenario()) == 64 * _TOKENS


def test_who_waits_for_memory_in_vain_is_told_when_to_come_back(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, **_options(tiny_path, 1, open_within=0.05)) as service:
            chat, newcomer = [await Device(service, tiny_path).open() for _ in range(2)]
            await chat.step(0, list(range(1, _PROMPT)))
            event = await newcomer.send(newcomer.frame(0, list(range(1, _PROMPT))))
            assert isinstance(event, StepFailed)
            assert (event.failure.code, event.failure.retryable) == (CacheFull.code, True)
            assert event.failure.retry_after is not None
            await chat.step(_PROMPT - 1, [3])
            # What was refused may be asked for again once there is room.
            await chat.send(chat.protocol.close() or b"")
            await newcomer.step(0, list(range(1, _PROMPT)))

    run(scenario())


def test_a_step_that_waits_for_memory_ends_with_its_session(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, **_options(tiny_path, 1)) as service:
            chat, newcomer = [await Device(service, tiny_path).open() for _ in range(2)]
            await chat.step(0, list(range(1, _PROMPT)))
            waiting = asyncio.ensure_future(
                newcomer.send(newcomer.frame(0, list(range(1, _PROMPT))))
            )
            await _somebody_waits(service)
            assert newcomer.protocol.opened is not None
            service.store.close("local", newcomer.protocol.opened.session)
            event = await waiting
            assert isinstance(event, StepFailed)
            assert event.failure.code == "unknown_session"

    run(scenario())


def test_two_rows_of_the_original_protocol_do_not_wait_for_memory_beside_each_other(
    tiny_path: Path,
) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, **_options(tiny_path, 1)) as service:
            chat = await Device(service, tiny_path).open()
            rows = oracle.embeddings(tiny_path, list(range(1, _PROMPT)))
            few, many = (_tensor(rows[:8]), _tensor(rows))
            await service.original.append("local", "named", few, False)
            event = await chat.send(chat.frame(0, list(range(1, 8))))
            assert isinstance(event, StepCompleted)
            appending = asyncio.ensure_future(service.original.append("local", "named", many, True))
            await _somebody_waits(service)
            done = await asyncio.gather(
                service.original.append("local", "named", few, True), return_exceptions=True
            )
            assert "under way" in str(done[0])
            await chat.send(chat.protocol.close() or b"")
            assert (await appending).cached_before == 8

    run(scenario())


def _tensor(rows: Any) -> Any:
    from split_wire.tensor import Tensor

    return Tensor.from_f32(rows.numpy(), "f32")


def test_a_server_that_stops_tells_those_who_wait_for_memory(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, **_options(tiny_path, 1)) as service:
            chat, newcomer = [await Device(service, tiny_path).open() for _ in range(2)]
            await chat.step(0, list(range(1, _PROMPT)))
            frame = newcomer.frame(0, list(range(1, _PROMPT)))
            waiting = asyncio.ensure_future(newcomer.refused(frame))
            await _somebody_waits(service)
            await service.steps.stop()
            assert await waiting == "shutting_down"

    run(scenario())


@pytest.mark.parametrize("leaves", [True, False])
def test_whoever_leaves_while_it_waits_for_memory_is_counted_nowhere(
    leaves: bool, tiny_path: Path
) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, **_options(tiny_path, 1)) as service:
            chat, newcomer = [await Device(service, tiny_path).open() for _ in range(2)]
            await chat.step(0, list(range(1, _PROMPT)))
            frame = newcomer.frame(0, list(range(1, _PROMPT)))
            waiting = asyncio.ensure_future(service.handle("local", frame))
            await _somebody_waits(service)
            if leaves:
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
            await chat.send(chat.protocol.close() or b"")
            # The very same bytes again.
            answer = await service.handle("local", frame)
            assert isinstance(newcomer.protocol.receive(answer.frame), StepCompleted)
            assert not service.steps._entrance._gate._queued
            assert len(service.steps._entrance._claims) == 0

    run(scenario())
