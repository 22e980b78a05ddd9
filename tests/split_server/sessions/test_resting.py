"""The last rows of a reply are kept once its session rests, so that another server has them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.tier import DiskTier
from split_server.sessions.reuse import Reuse
from split_wire.errors import ShuttingDown
from tests import oracle
from tests.engines import Device, TinySessions, serving
from tests.patience import PATIENCE
from tests.split_server.kv_disk.tiers import Clock

PROMPT = [11 + i % 60 for i in range(100)]
COUNT = 40
# The last token of a reply has no row yet; whole blocks of what it follows.
HELD = len(PROMPT) + COUNT - 1
WHOLE = HELD - HELD % 16
_T = TypeVar("_T")


def reuse(folder: Path) -> Reuse:
    """As a server has it that shares ``folder`` with others."""
    pool = RunPool(PoolLimits())
    disk = DiskTier(folder / "kv", folder / "state", pool)
    return Reuse(pool, Namespaces("of the test", disk.salts), disk=disk)


def in_service(
    path: Path, folder: Path, work: Callable[[TinySessions, Clock], Coroutine[Any, Any, _T]]
) -> _T:
    """What ``work`` returns of a service of its own."""

    async def scenario() -> _T:
        kept, clock = reuse(folder), Clock()
        async with serving(path, reuse=kept, clock=clock) as service:
            assert kept.disk is not None
            assert kept.disk.index.ready.wait(PATIENCE)
            return await work(service, clock)

    return asyncio.run(scenario())


def kept_by(service: TinySessions) -> Reuse:
    """What keeps for it."""
    assert service.steps.reuse is not None
    return service.steps.reuse


async def written(service: TinySessions) -> None:
    """Have on disk what waits for it, and no more, as before a server is lost."""
    disk = kept_by(service).disk
    assert disk is not None
    await disk.flush()


async def replied(service: TinySessions, path: Path) -> tuple[Device, list[int]]:
    """A device after its first reply."""
    device = await Device(service, path).open()
    return device, await device.greedy(PROMPT, COUNT)


@pytest.mark.parametrize("rests", [False, True])
def test_another_server_goes_on_with_the_whole_reply_of_a_session_that_rested(
    tiny_path: Path, tmp_path: Path, rests: bool
) -> None:
    async def elsewhere(service: TinySessions, _: Clock) -> tuple[int, list[int]]:
        device = Device(service, tiny_path)
        text = [*PROMPT, *oracle.greedy(tiny_path, PROMPT, COUNT)]
        held = await device.reopen(text)
        return held, await device.greedy(text, 4, held)

    async def here(service: TinySessions, clock: Clock) -> tuple[int, list[int]]:
        _, ids = await replied(service, tiny_path)
        assert ids == oracle.greedy(tiny_path, PROMPT, COUNT)
        clock.now += 2 if rests else 0.5
        await service.steps.keep_rests()
        await written(service)
        return await asyncio.to_thread(in_service, tiny_path, tmp_path, elsewhere)

    held, after = in_service(tiny_path, tmp_path, here)
    assert held == (WHOLE if rests else 96)
    assert after == oracle.greedy(tiny_path, PROMPT, COUNT + 4)[COUNT:]


def test_a_session_goes_on_exactly_after_it_rested(tiny_path: Path, tmp_path: Path) -> None:
    async def work(service: TinySessions, clock: Clock) -> None:
        device = await Device(service, tiny_path).open()
        ids, held = list[int](), 0
        for _ in range(4):
            ids += await device.greedy([*PROMPT, *ids], 20, held)
            held = len(PROMPT) + len(ids) - 1
            clock.now += 2
            await service.steps.keep_rests()
        assert ids == oracle.greedy(tiny_path, PROMPT, 80)
        # Another text in its place, of which the rest has other names.
        start = len(PROMPT)
        other = await device.step(start, [5, 6, 7])
        assert device.pick(other.hidden) == oracle.greedy(tiny_path, [*PROMPT, 5, 6, 7], 1)[0]
        clock.now += 2
        await service.steps.keep_rests()
        again = Device(service, tiny_path)
        assert await again.reopen([*PROMPT, *ids]) >= WHOLE
        # Its own rows are those of the first text still.
        assert await again.greedy([*PROMPT, *ids[:30]], 4, 120) == ids[30:34]

    in_service(tiny_path, tmp_path, work)


def test_another_reply_of_the_same_length_is_kept_as_well(tiny_path: Path, tmp_path: Path) -> None:
    async def work(service: TinySessions, clock: Clock) -> None:
        device = await Device(service, tiny_path).open()
        for other in (0, 1):
            prompt = [*PROMPT[:-1], PROMPT[-1] + other]
            await device.greedy(prompt, COUNT, (len(PROMPT) - 1) * other)
            (session,) = service.store.idle()
            assert session.published < WHOLE
            clock.now += 2
            await service.steps.keep_rests()
            assert session.published == WHOLE

    in_service(tiny_path, tmp_path, work)


def test_what_was_purged_is_not_kept_again_because_a_session_rests(
    tiny_path: Path, tmp_path: Path
) -> None:
    async def work(service: TinySessions, clock: Clock) -> None:
        device, ids = await replied(service, tiny_path)
        await kept_by(service).purge("local", None)
        clock.now += 2
        await service.steps.keep_rests()
        await written(service)
        assert not len(kept_by(service).pool)
        # Its next step keeps what it holds.
        await device.greedy([*PROMPT, *ids], 40, HELD)
        assert len(kept_by(service).pool)

    in_service(tiny_path, tmp_path, work)


def test_a_session_that_rests_waits_for_the_thread_of_copies(
    tiny_path: Path, tmp_path: Path
) -> None:
    async def work(service: TinySessions, clock: Clock) -> None:
        device, ids = await replied(service, tiny_path)
        threads, end = kept_by(service)._threads, threading.Event()
        busy = asyncio.create_task(threads.run(lambda: end.wait(PATIENCE)))
        await asyncio.sleep(0)
        clock.now += 2
        await asyncio.wait_for(service.steps.keep_rests(), PATIENCE)
        (session,) = service.store.idle()
        assert session.published < WHOLE
        # Whoever goes on meanwhile does not wait for it either.
        await asyncio.wait_for(device.step(HELD, [ids[-1]]), PATIENCE)
        end.set()
        assert await busy

    in_service(tiny_path, tmp_path, work)


def test_a_server_that_stops_keeps_the_rest_by_itself(tiny_path: Path, tmp_path: Path) -> None:
    async def work(service: TinySessions, clock: Clock) -> None:
        await replied(service, tiny_path)
        service.steps._stopping = True
        clock.now += 2
        with pytest.raises(ShuttingDown):
            await service.steps.keep_rests()

    in_service(tiny_path, tmp_path, work)


def test_what_has_no_room_when_a_session_rests_is_not_tried_again_and_again(
    tiny_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(service: TinySessions, clock: Clock) -> None:
        await replied(service, tiny_path)
        (session,) = service.store.idle()
        monkeypatch.setattr(RunPool, "room_for", lambda *_: False)
        clock.now += 2
        await service.steps.keep_rests()
        assert session.last_used == clock.now
        clock.now += 2
        await service.steps.keep_rests()
        assert session.last_used == clock.now - 2
        assert session.running == 0

    in_service(tiny_path, tmp_path, work)


def test_nothing_rests_that_is_not_to_be_written(tiny_path: Path, tmp_path: Path) -> None:
    async def work(service: TinySessions, clock: Clock) -> None:
        device = await Device(service, tiny_path, cache="off").open()
        await device.greedy(PROMPT, COUNT)
        await replied(service, tiny_path)
        for session in service.store.idle():
            session.to_disk = False
        before = [session.published for session in service.store.idle()]
        clock.now += 2
        await service.steps.keep_rests()
        assert [session.published for session in service.store.idle()] == before

    in_service(tiny_path, tmp_path, work)


def test_a_step_that_is_admitted_is_not_waited_for(tiny_path: Path, tmp_path: Path) -> None:
    async def work(service: TinySessions, clock: Clock) -> None:
        await replied(service, tiny_path)
        (session,) = service.store.idle()
        assert session.framing is not None
        clock.now += 2
        before = session.published
        async with session.framing.lock:
            await asyncio.wait_for(service.steps.keep_rests(), PATIENCE)
        assert session.published == before
        await service.steps.keep_rests()
        assert session.published == WHOLE

    in_service(tiny_path, tmp_path, work)
