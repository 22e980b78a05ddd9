"""Memory is short: what idle sessions hold is kept in less of it, or on disk, and not lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.tier import DiskTier
from split_server.memory.budget import BudgetLimits
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.reuse import Reuse
from split_wire.messages import Failure
from split_wire.tiers import Cache, Inexact
from tests import oracle
from tests.engines import Device, TinySessions, serving, tiny_backbone
from tests.patience import PATIENCE

PROMPT = [11 + i % 60 for i in range(100)]
OTHER = [70 - i % 50 for i in range(100)]
COUNT = 4


def reuse(folder: Path | None = None) -> Reuse:
    pool = RunPool(PoolLimits())
    disk = None if folder is None else DiskTier(folder / "kv", folder / "state", pool)
    salts = None if disk is None else disk.salts
    return Reuse(pool, Namespaces("of the test", salts), disk=disk, tiers=("exact", "int8"))


def room_for(path: Path, positions: int) -> BudgetLimits:
    size = positions * tiny_backbone(path).info.kv_bytes_per_position
    return BudgetLimits(size, size)


def crowded(path: Path, kept: Reuse | None) -> Any:
    """A service that has room for one such prompt, and for half as much beside it."""
    budget = room_for(path, 190)
    limits = StoreLimits(active=0.0)
    return serving(path, budget=budget, limits=limits, reuse=kept, open_within=PATIENCE)


async def replies(
    service: TinySessions, path: Path, cache: Cache
) -> tuple[Device, list[int], Device]:
    """A chat that stays open, and another one that needs its memory."""
    first = await Device(service, path, cache=cache).open()
    ids = await first.greedy(PROMPT, COUNT)
    second = await Device(service, path, cache="off").open()
    assert await second.greedy(OTHER, COUNT) == oracle.greedy(path, OTHER, COUNT)
    kept = service.steps.reuse
    while kept is not None and kept.parking:
        await asyncio.gather(*kept.parking)
    return first, ids, second


async def is_lost(service: TinySessions, device: Device) -> bool:
    frame = device.frame(100, [1])
    answer = await service.handle(device.principal, frame)
    event = device.protocol.receive(answer.frame)
    failure = getattr(event, "failure", None)
    return isinstance(failure, Failure) and failure.code == "unknown_session"


def test_an_idle_session_that_takes_int8_makes_way_and_goes_on_from_there(tiny_path: Path) -> None:
    async def scenario() -> tuple[bool, int, Inexact]:
        async with crowded(tiny_path, kept := reuse()) as service:
            first, ids, _ = await replies(service, tiny_path, "int8")
            lost = await is_lost(service, first)
            assert kept.pool.bytes_of("int8")
            wanted = [*PROMPT, *ids[:-1]]
            again = Device(service, tiny_path, cache="int8")
            # The other one is idle now, and keeps nothing.
            held = await again.reopen(wanted)
            after = await again.step(held, [ids[-1]])
            return lost, held - len(wanted), after.tiers

    lost, missing, tiers = asyncio.run(scenario())
    assert (lost, missing) == (True, 0)
    assert tiers == Inexact(len(PROMPT) + COUNT)


def test_an_exact_one_goes_to_disk_before_it_makes_way(tiny_path: Path, tmp_path: Path) -> None:
    async def scenario() -> tuple[bool, int, int, Inexact]:
        kept = reuse(tmp_path)
        async with crowded(tiny_path, kept) as service:
            assert kept.disk is not None
            assert kept.disk.index.ready.wait(PATIENCE)
            first, ids, second = await replies(service, tiny_path, "exact")
            lost = await is_lost(service, first)
            written = len(kept.disk.index)
            # What is on disk comes back into memory that is free.
            await second.close()
            wanted = [*PROMPT, *ids[:-1]]
            again = Device(service, tiny_path)
            held = await again.reopen(wanted)
            after = await again.step(held, [ids[-1]])
            return lost, written, held - len(wanted), after.tiers

    lost, written, missing, tiers = asyncio.run(scenario())
    assert (lost, missing) == (True, 0)
    assert written > 0
    assert tiers == Inexact()


def test_without_either_it_makes_way_at_once_as_ever(tiny_path: Path) -> None:
    async def scenario() -> tuple[bool, int]:
        async with crowded(tiny_path, kept := reuse()) as service:
            first, *_ = await replies(service, tiny_path, "exact")
            return await is_lost(service, first), kept.pool.bytes_of("int8")

    assert asyncio.run(scenario()) == (True, 0)


def test_of_idle_sessions_those_that_may_be_kept_in_less_memory_go_first(tiny_path: Path) -> None:
    async def scenario() -> tuple[bool, bool]:
        budget, limits = room_for(tiny_path, 400), StoreLimits(active=0.0)
        options: dict[str, Any] = {"budget": budget, "limits": limits, "open_within": PATIENCE}
        async with serving(tiny_path, reuse=reuse(), **options) as service:
            exact = await Device(service, tiny_path).open()
            await exact.step(0, PROMPT)
            int8 = await Device(service, tiny_path, cache="int8").open()
            await int8.step(0, PROMPT)
            third = await Device(service, tiny_path, cache="off").open()
            await third.step(0, OTHER + OTHER[:60])
            return await is_lost(service, int8), await is_lost(service, exact)

    assert asyncio.run(scenario()) == (True, False)


def test_a_copy_that_fails_frees_the_memory_all_the_same(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> bool:
        async with crowded(tiny_path, reuse()) as service:

            def failing(*_: object, **__: object) -> None:
                raise MemoryError

            monkeypatch.setattr("split_server.sessions.keeping.copies.copied", failing)
            first, *_ = await replies(service, tiny_path, "int8")
            return await is_lost(service, first)

    assert asyncio.run(scenario())


def test_what_was_forgotten_meanwhile_is_not_kept(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with serving(tiny_path, reuse=(kept := reuse())) as service:
            device = await Device(service, tiny_path, cache="int8").open()
            await device.step(0, PROMPT)
            (session,) = service.store.of("local")
            freed = asyncio.Event()
            assert kept.set_aside(session, freed.set)
            await kept.erase(session)
            await freed.wait()
            return len(kept.pool)

    assert asyncio.run(scenario()) == 0
