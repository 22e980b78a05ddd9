"""States of the last so many rows, from the engine and within the byte budget."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.memory.budget import BudgetLimits
from split_wire.client import StepCompleted
from split_wire.messages import Opened
from tests import oracle
from tests.engines import Device, run, serving
from tests.split_server.sessions.test_reuse import keeping

IDS = [7 + i % 40 for i in range(400)]


async def asked(device: Device, start: int, ids: list[int], rows: Any) -> StepCompleted:
    embeddings = oracle.embeddings(device.path, ids).numpy()
    event = await device.send(device.protocol.step(start, embeddings, rows))
    assert isinstance(event, StepCompleted), event
    return event


def test_states_of_the_last_rows_are_those_of_the_model(family_path: Path) -> None:
    async def scenario() -> None:
        async with serving(family_path) as service:
            device = await Device(service, family_path).open()
            start = 0
            for end, rows in ((100, 5), (101, 1), (109, 8), (300, 120), (304, 2), (400, 96)):
                event = await asked(device, start, IDS[start:end], rows)
                logits = oracle.head(family_path, torch.from_numpy(event.hidden.copy()))
                wanted = oracle.logits(family_path, IDS[:end])[-rows:]
                torch.testing.assert_close(logits, wanted, atol=2e-4, rtol=1e-4)
                start = end

    run(scenario())


def test_a_session_is_told_that_rows_are_counted(tiny_path: Path) -> None:
    async def scenario() -> Opened:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            assert device.protocol.opened is not None
            return device.protocol.opened

    opened = run(scenario())
    assert "rows" in opened.capabilities
    assert opened.interactive_rows == 16


def test_a_repeated_step_is_answered_with_the_same_states(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            frame = device.protocol.step(0, oracle.embeddings(tiny_path, IDS[:20]).numpy(), 4)
            first = await service.handle("local", frame)
            assert (await service.handle("local", frame)).frame == first.frame

    run(scenario())


def test_many_states_that_do_not_fit_are_refused_before_the_step(tiny_path: Path) -> None:
    async def scenario() -> None:
        # Room for the cache of 64 positions of 768 bytes each, and no more.
        async with serving(tiny_path, budget=BudgetLimits(66 * 768)) as service:
            device = await Device(service, tiny_path).open()
            rows = oracle.embeddings(tiny_path, IDS[:45]).numpy()
            assert await device.refused(device.protocol.step(0, rows, 45)) == "cache_full"
            assert (await asked(device, 0, IDS[:45], 16)).hidden.shape[0] == 16

    run(scenario())


def test_sessions_that_all_ask_for_many_states_stay_within_the_budget(tiny_path: Path) -> None:
    count, rows = 32, 400
    total = 4 << 20

    async def scenario() -> tuple[list[str | None], int]:
        async with serving(tiny_path, budget=BudgetLimits(total)) as service:
            devices = [await Device(service, tiny_path, f"p{n}").open() for n in range(count)]
            embeddings = oracle.embeddings(tiny_path, IDS[:rows]).numpy()
            most = 0

            async def one(device: Device) -> str | None:
                nonlocal most
                frame = device.protocol.step(0, embeddings, rows)
                answer = await service.handle(device.principal, frame)
                most = max(most, service.store.bytes)
                return None if answer.error is None else answer.error.code

            return await asyncio.gather(*map(one, devices)), most

    codes, most = run(scenario())
    assert most <= total
    assert set(codes) == {None, "cache_full"}
    # What a session takes is its cache, the reply as rows and as a frame.
    held = rows * (768 + 2 * 64 * 4)
    assert codes.count(None) <= total // held + 1


@pytest.mark.parametrize(("rows", "reused"), [(1, 399), (17, 383), (40, 352), (400, 0)])
def test_rows_whose_states_are_asked_for_are_computed_though_they_are_known(
    tiny_path: Path, rows: int, reused: int
) -> None:
    async def scenario() -> StepCompleted:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path).open()).step(0, IDS)
            return await asked(await Device(service, tiny_path).open(), 0, IDS, rows)

    event = run(scenario())
    assert event.reused == reused
    logits = oracle.head(tiny_path, torch.from_numpy(event.hidden.copy()))
    wanted = oracle.logits(tiny_path, IDS)[-rows:]
    torch.testing.assert_close(logits, wanted, atol=2e-4, rtol=1e-4)
