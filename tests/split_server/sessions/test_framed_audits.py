"""Sessions whose prompts were edited computed plainly as well from the rows that they were sent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from split_server.sessions.keeping.approximate import ApproximateAudit
from tests import oracle
from tests.engines import Device, TinySessions, serving
from tests.split_server.sessions.test_blending import blending, spliced
from tests.split_server.sessions.test_splicing import END, PROMPT, ROWS, SPANS, options, prompted


async def replied(device: Device, start: int, count: int) -> None:
    """So many tokens, one step each."""
    for number in range(count):
        await device.step(start + number, [30 + number])


async def settled(service: TinySessions) -> list[float]:
    """What all audits so far have found."""
    await service.steps.tasks.drain()
    return found_by(service)


def found_by(service: TinySessions) -> list[float]:
    splicing = service.steps.splicing
    assert splicing is not None
    return splicing.audit.found  # type: ignore[attr-defined,no-any-return]


class Heard(ApproximateAudit):
    """Remembers what it is told."""

    def __init__(self, share: float = 1.0, draw: Any = lambda: 0.5) -> None:
        super().__init__(share, draw)
        self.found = list[float]()
        self.told = lambda _, value: self.found.append(value)


def test_what_moved_rows_answer_is_compared_once_there_are_enough_states(tiny_path: Path) -> None:
    async def scenario() -> tuple[list[float], Any]:
        audit = Heard()
        async with serving(tiny_path, **options(tiny_path), approximate=audit) as service:
            device = await prompted(service, tiny_path)
            await replied(device, len(PROMPT), 9)
            # Nothing was moved yet.
            assert not await settled(service)
            await device.splice(20, SPANS, ROWS)
            await replied(device, END, 7)
            assert not await settled(service)
            await replied(device, END + 7, 1)
            return await settled(service), dict(audit.counts)

    [found], counts = asyncio.run(scenario())
    assert found > 0
    assert sum(counts.values()) == 1


def test_states_that_an_edit_cuts_off_are_compared_as_well(tiny_path: Path) -> None:
    async def scenario() -> list[float]:
        async with serving(tiny_path, **blending(tiny_path), approximate=Heard()) as service:
            device = await prompted(service, tiny_path)
            await spliced(device, 0.5)
            await replied(device, END, 3)
            await device.step(END, [9])
            return await settled(service)

    [found] = asyncio.run(scenario())
    assert found > 0


def test_the_plain_computation_of_exact_rows_is_the_same(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = "split_server.sessions.admission.blends.blended"
    monkeypatch.setattr(everything, lambda spans, _: sum(span.rows for span in spans))

    async def scenario() -> tuple[list[float], int]:
        async with serving(tiny_path, **blending(tiny_path), approximate=Heard()) as service:
            device = await prompted(service, tiny_path)
            await spliced(device, 0.5)
            await replied(device, END, 8)
            found = await settled(service)
            # It stays, and the one beside it has gone.
            assert len(service.store) == 1
            return found, (await device.step(END + 8, [7])).cached

    [found], cached = asyncio.run(scenario())
    assert found < 1e-5
    assert cached == END + 9


def test_what_is_too_far_off_ends_its_session_and_three_times_the_edits(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = "split_server.sessions.keeping.approximate.BOUNDS"
    monkeypatch.setattr(bounds, {"kl": 0.0, "states": 0.0})

    async def scenario() -> tuple[list[str], list[bool]]:
        async with serving(tiny_path, **options(tiny_path), approximate=Heard()) as service:
            codes, offered = [], []
            for _ in range(3):
                device = await prompted(service, tiny_path)
                offered.append(device.protocol.splices)
                await device.splice(20, SPANS, ROWS)
                await replied(device, END, 8)
                await settled(service)
                codes.append(await lost(service, device))
            device = await prompted(service, tiny_path)
            offered.append(device.protocol.splices)
            ids = await device.greedy(PROMPT, 3, start=len(PROMPT) - 1)
            assert ids == oracle.greedy(tiny_path, PROMPT, 3)
            return codes, offered

    codes, offered = asyncio.run(scenario())
    assert codes == ["unknown_session"] * 3
    assert offered == [True, True, True, False]


def test_three_replies_of_one_principal_end_its_edits_and_one_of_each_of_three_everybodys() -> None:
    audit = ApproximateAudit(1.0)
    for number in range(3):
        assert not audit.stopped("moved", "ann"), number
        audit.take("ann", {"moved"}, "kl", 9.0)
    assert audit.stopped("moved", "ann")
    assert not audit.stopped("documents", "ann")
    audit.take("bob", {"moved", "documents"}, "kl", 9.0)
    audit.take("bob", {"moved"}, "kl", 0.01)
    assert not audit.stopped("moved", "bob")
    assert not audit.stopped("moved", "cid")
    audit.take("cid", {"moved"}, "states", 0.9)
    assert audit.stopped("moved", "dan")
    assert not audit.stopped("documents", "dan")


async def lost(service: TinySessions, device: Device) -> str:
    """The code with which the next step is refused."""
    frame = device.frame(END + 8, [1])
    answer = await service.handle("local", frame)
    assert answer.error is not None
    return answer.error.code


def test_sessions_that_found_rows_or_are_not_picked_are_left_alone(tiny_path: Path) -> None:
    async def scenario() -> list[list[float]]:
        found = []
        for audit in (Heard(0.0), Heard(0.4)):
            async with serving(tiny_path, **options(tiny_path), approximate=audit) as service:
                device = await prompted(service, tiny_path)
                await device.splice(20, SPANS, ROWS)
                await replied(device, END, 8)
                found.append(await settled(service))
        async with serving(tiny_path, **options(tiny_path), approximate=Heard()) as service:
            first = await prompted(service, tiny_path)
            await first.close()
            while service.steps.reuse.parking:  # type: ignore[union-attr]
                await asyncio.gather(*service.steps.reuse.parking)  # type: ignore[union-attr]
            device = Device(service, tiny_path, cache="approximate")
            assert await device.reopen(PROMPT) == len(PROMPT)
            await device.splice(20, SPANS, ROWS)
            await replied(device, END, 8)
            found.append(await settled(service))
        return found

    assert asyncio.run(scenario()) == [[], [], []]
