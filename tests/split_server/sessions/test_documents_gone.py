"""Documents that are kept go: by age and memory, with their text, their principal, their name."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from split_server.kv.kept_runs import PoolLimits
from split_server.sessions.cache_groups import CacheGroups, group_text
from tests import oracle
from tests.engines import serving
from tests.split_server.sessions.test_documents import (
    FIRST,
    OTHER,
    frame,
    known,
    name,
    opened,
    options,
    told,
)


def test_a_chunk_that_has_gone_is_told_and_nothing_has_changed(tiny_path: Path) -> None:
    async def scenario() -> tuple[bool, str, list[int]]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            await told(service, tiny_path)
            device = await opened(service, tiny_path)
            await device.step(0, FIRST)
            there = await known(device)
            reuse = service.steps.reuse
            assert reuse is not None
            await reuse.purge("local", None)
            code = await device.refused(frame(device, start=10))
            return there, code, await device.greedy(FIRST, 3, start=len(FIRST) - 1)

    assert asyncio.run(scenario()) == (True, "chunk_gone", oracle.greedy(tiny_path, FIRST, 3))


def test_it_goes_with_the_text_that_is_forgotten_with_its_principal_and_by_its_name(
    tiny_path: Path,
) -> None:
    async def scenario() -> list[bool]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            found = []
            first = await told(service, tiny_path)
            # Also where another session computed it first, and this one took it.
            taken = await opened(service, tiny_path)
            await taken.send(frame(taken))
            await first.close()
            await taken.close(keep=False)
            found.append(await known(await opened(service, tiny_path)))
            await told(service, tiny_path, OTHER)
            last = await opened(service, tiny_path)
            found.append(await known(last))
            closing = last.protocol.close(keep=False, chunks=name(last))
            assert closing is not None
            await service.handle("local", closing)
            found.append(await known(await opened(service, tiny_path)))
            await told(service, tiny_path, [*OTHER, 3])
            found.append(await known(await opened(service, tiny_path)))
            service.steps.forget(lambda principal: principal == "local")
            found.append(await known(await opened(service, tiny_path)))
            return found

    assert asyncio.run(scenario()) == [False, True, False, True, False]


def test_as_many_other_names_as_a_message_has_leave_none_of_its_own(tiny_path: Path) -> None:
    groups = CacheGroups([group_text("us=ann+bob")])
    others = b"".join(number.to_bytes(16, "little") for number in range(1024))

    async def scenario() -> bool:
        async with serving(tiny_path, **options(tiny_path, groups=groups)) as service:
            who = {"principal": "ann", "group": "us", "share": 128}
            first = await told(service, tiny_path, **who)
            closing = first.protocol.close(keep=False, chunks=others)
            assert closing is not None
            await service.handle("ann", closing)
            return await known(await opened(service, tiny_path, **who))

    assert not asyncio.run(scenario())


def test_it_counts_and_goes_as_any_run(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, int, list[bool]]:
        async with serving(tiny_path, **options(tiny_path)) as service:
            await told(service, tiny_path, principal="ann")
            pool = service.steps.reuse.pool  # type: ignore[union-attr]
            size, mine = pool.bytes_of("approximate"), pool.held_by("ann")
            found = [await known(await opened(service, tiny_path, principal="ann"))]
            pool.release(pool.held_bytes)
            found.append(await known(await opened(service, tiny_path, principal="ann")))
            return size, mine, found

    size, mine, found = asyncio.run(scenario())
    assert 0 < size <= mine
    assert found == [True, False]


@pytest.mark.parametrize("asked", [True, False])
def test_one_that_was_asked_for_counts_as_used(tiny_path: Path, asked: bool) -> None:
    now = [0.0]
    used = options(tiny_path, limits=PoolLimits(ttl=10.0), clock=lambda: now[0])

    async def scenario() -> bool:
        async with serving(tiny_path, **used) as service:
            await told(service, tiny_path)
            device = await opened(service, tiny_path)
            now[0] = 8.0
            if asked:
                assert await known(device)
            now[0] = 12.0
            service.steps.reuse.pool.sweep()  # type: ignore[union-attr]
            return await known(device)

    assert asyncio.run(scenario()) is asked
