"""Lost sessions of the original protocol go on where they stood, while what they held is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.original.sessions import Appended
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.reuse import Reuse
from split_wire.errors import Overloaded, TooManySessions, UnknownSession
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import TinySessions, run, serving

PROMPT = [11 + i % 60 for i in range(45)]


@asynccontextmanager
async def keeping(path: Path, **options: Any) -> AsyncIterator[TinySessions]:
    """A service that keeps what is lost, with a clock that the test sets."""
    pool = RunPool(PoolLimits(**options.pop("pool", {})))
    reuse = Reuse(pool, Namespaces("of the test"), frozenset({"anybody"}))
    async with serving(path, reuse=reuse, **options) as service:
        yield service


async def append(
    service: TinySessions, path: Path, ids: list[int], incremental: bool = True, **where: str
) -> Appended:
    rows = Tensor.from_f32(oracle.embeddings(path, ids).numpy(), "f32")
    principal, name = where.get("principal", "local"), where.get("name", "chat")
    return await service.original.append(principal, name, rows, incremental)


def named(service: TinySessions, name: str = "chat", principal: str = "local") -> Any:
    session = service.store.find_named(principal, name)
    assert session is not None
    return session


@pytest.mark.parametrize("principal", ["local", "anybody"])
@pytest.mark.parametrize("how", ["expired", "evicted"])
def test_a_lost_session_goes_on_bit_for_bit(tiny_path: Path, how: str, principal: str) -> None:
    now = [0.0]
    limits = StoreLimits(max_sessions_per_principal=2, ttl=10.0)

    async def scenario() -> tuple[Appended, Appended]:
        async with keeping(tiny_path, limits=limits, clock=lambda: now[0]) as service:
            who = {"principal": principal}
            for name in ("stayed", "chat"):
                await append(service, tiny_path, PROMPT, False, name=name, **who)
                await append(service, tiny_path, [3], name=name, **who)
            stayed = await append(service, tiny_path, [4, 5], name="stayed", **who)
            if how == "expired":
                now[0] = 11.0
                service.steps.sweep()
            else:
                await append(service, tiny_path, PROMPT, False, name="other", **who)
            assert not service.store.has_named(principal, "chat")
            return stayed, await append(service, tiny_path, [4, 5], **who)

    stayed, revived = run(scenario())
    assert revived.incremental
    assert revived.cached_before == len(PROMPT) + 1
    assert np.array_equal(stayed.hidden, revived.hidden)


def test_it_goes_on_more_than_once(tiny_path: Path) -> None:
    now = [0.0]

    async def scenario() -> list[int]:
        async with keeping(
            tiny_path, limits=StoreLimits(ttl=10.0), clock=lambda: now[0]
        ) as service:
            await append(service, tiny_path, PROMPT, False)
            held = []
            for token in range(5):
                now[0] += 11.0
                held.append((await append(service, tiny_path, [token])).cached_before)
            return held

    assert run(scenario()) == [len(PROMPT) + count for count in range(5)]


@pytest.mark.parametrize("lost_before", [False, True])
def test_a_name_that_was_given_up_stays_lost(tiny_path: Path, lost_before: bool) -> None:
    async def scenario() -> None:
        async with keeping(tiny_path) as service:
            await append(service, tiny_path, PROMPT, False)
            if lost_before:
                service.store.lose(named(service))
            service.original.lose("local", "chat")
            with pytest.raises(UnknownSession):
                await append(service, tiny_path, [3])

    run(scenario())


def test_a_session_that_was_closed_leaves_nothing(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with keeping(tiny_path) as service:
            await append(service, tiny_path, PROMPT, False)
            service.original.close("local", "chat")
            assert len(await settled(service)) == 0
            assert (await append(service, tiny_path, [3])).cached_before == 0

    run(scenario())


def test_one_whose_rows_are_no_longer_kept_is_lost(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with keeping(tiny_path) as service:
            await append(service, tiny_path, PROMPT, False)
            service.store.lose(named(service))
            reuse = service.steps.reuse
            assert reuse is not None
            await asyncio.gather(*reuse.parking)
            reuse.pool.release(1 << 40)
            for _ in range(2):
                with pytest.raises(UnknownSession):
                    await append(service, tiny_path, [3])

    run(scenario())


def test_a_name_begun_anew_begins_anew(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with keeping(tiny_path) as service:
            await append(service, tiny_path, PROMPT, False)
            service.store.lose(named(service))
            assert (await append(service, tiny_path, PROMPT[:5], False)).cached_before == 0
            assert (await append(service, tiny_path, [3])).cached_before == 5

    run(scenario())


def test_two_steps_of_a_lost_session_at_once_are_one_too_many(tiny_path: Path) -> None:
    async def scenario() -> list[Any]:
        async with keeping(tiny_path) as service:
            await append(service, tiny_path, PROMPT, False)
            service.store.lose(named(service))
            steps = [append(service, tiny_path, [3]) for _ in range(2)]
            return await asyncio.gather(*steps, return_exceptions=True)

    first, second = run(scenario())
    assert first.cached_before == len(PROMPT)
    assert isinstance(second, Overloaded)


def test_nobody_else_finds_what_is_kept_for_it(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with keeping(tiny_path) as service:
            await append(service, tiny_path, PROMPT, False)
            service.store.lose(named(service))
            done = await append(service, tiny_path, [3], principal="bob")
            assert (done.incremental, done.cached_before) == (False, 0)

    run(scenario())


def test_a_lost_name_for_which_there_is_no_place_is_still_kept(tiny_path: Path) -> None:
    now = [0.0]
    limits = StoreLimits(max_sessions_per_principal=1, active=5.0)

    async def scenario() -> int:
        async with keeping(tiny_path, limits=limits, clock=lambda: now[0]) as service:
            await append(service, tiny_path, PROMPT, False)
            service.store.lose(named(service))
            await append(service, tiny_path, PROMPT, False, name="other")
            with pytest.raises(TooManySessions):
                await append(service, tiny_path, [3])
            now[0] = 6.0
            return (await append(service, tiny_path, [3])).cached_before

    assert run(scenario()) == len(PROMPT)


async def settled(service: TinySessions) -> RunPool:
    """The pool, once nothing is under way that changes it."""
    reuse = service.steps.reuse
    assert reuse is not None
    while reuse.parking:
        await asyncio.gather(*reuse.parking)
    return reuse.pool


@pytest.mark.parametrize("lost_before", [False, True])
@pytest.mark.parametrize("how", ["closed", "given up", "begun anew"])
def test_what_is_kept_for_a_name_goes_with_it(tiny_path: Path, how: str, lost_before: bool) -> None:
    async def scenario() -> tuple[int, int]:
        async with keeping(tiny_path) as service:
            await append(service, tiny_path, PROMPT, False)
            if lost_before:
                service.store.lose(named(service))
            before = len(await settled(service))
            if how == "closed":
                service.original.close("local", "chat")
            elif how == "given up":
                service.original.lose("local", "chat")
            else:
                await append(service, tiny_path, PROMPT[:5], False)
            return before, len(await settled(service))

    before, after = run(scenario())
    assert (before > 0, after) == (lost_before, 0)


def test_a_session_that_went_on_leaves_nothing_of_either_life(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            await append(service, tiny_path, PROMPT, False)
            service.store.lose(named(service))
            assert (await append(service, tiny_path, PROMPT)).cached_before == len(PROMPT)
            assert len(await settled(service))
            service.original.close("local", "chat")
            return len(await settled(service))

    assert run(scenario()) == 0


def test_what_is_kept_for_another_name_stays(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            for name in ("chat", "other"):
                await append(service, tiny_path, PROMPT, False, name=name)
                service.store.lose(named(service, name))
            service.original.close("local", "chat")
            await settled(service)
            return (await append(service, tiny_path, [3], name="other")).cached_before

    assert run(scenario()) == len(PROMPT)


def test_names_that_are_too_many_to_remember_leave_nothing(
    tiny_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("split_server.sessions.lost_names._REMEMBERED", 2)

    async def scenario() -> tuple[int, int]:
        async with keeping(tiny_path) as service:
            for name in ("first", "second", "third"):
                await append(service, tiny_path, PROMPT, False, name=name)
                service.store.lose(named(service, name))
            kept = len(await settled(service))
            return kept, (await append(service, tiny_path, [3], name="third")).cached_before

    assert run(scenario()) == (2, len(PROMPT))
