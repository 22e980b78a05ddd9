"""What is kept as whole numbers: who finds it, what it costs, and that it is always told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from split_server.kv.block_key import PUBLIC, Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.audit import Audit
from split_server.sessions.reuse import Reuse
from split_wire.codec import decode_server_message
from split_wire.messages import Opened, Restored, Result
from split_wire.tiers import ALL_EXACT, Cache, Inexact
from tests import oracle
from tests.engines import Device, TinySessions, serving

PROMPT = [11 + i % 60 for i in range(100)]
COUNT = 6


def reuse(*, int8: bool = True, share: float = 0.0, **options: Any) -> Reuse:
    pool = RunPool(PoolLimits())
    tiers: Any = ("exact", "int8") if int8 else ("exact",)
    bounds: Any = {"exact": 1e-4, "int8": 0.1}
    audit = Audit(pool, share, bounds, draw=lambda: 0.5) if share else None
    return Reuse(pool, Namespaces("of the test"), tiers=tiers, audit=audit, **options)


async def settled(service: TinySessions) -> None:
    kept = service.steps.reuse
    assert kept is not None
    while kept.parking:
        await asyncio.gather(*kept.parking)


async def left_behind(service: TinySessions, path: Path, cache: Cache, **who: Any) -> list[int]:
    """A reply whose session has ended and is kept."""
    device = await Device(service, path, cache=cache, **who).open()
    ids = await device.greedy(PROMPT, COUNT)
    await device.close()
    await settled(service)
    return ids


@pytest.mark.parametrize(
    ("left", "sought", "held", "inexact"),
    [
        ("exact", "exact", 96, 0),
        ("exact", "int8", 96, 0),
        ("int8", "exact", 0, 0),
        ("int8", "int8", 96, 96),
        ("off", "int8", 0, 0),
        ("int8", "off", 0, 0),
    ],
)
def test_who_asks_for_exact_finds_exact_alone_and_who_takes_int8_finds_both(
    tiny_path: Path, left: Cache, sought: Cache, held: int, inexact: int
) -> None:
    async def scenario() -> tuple[int, Opened]:
        async with serving(tiny_path, reuse=reuse()) as service:
            await left_behind(service, tiny_path, left)
            device = Device(service, tiny_path, cache=sought)
            frame = device.protocol.open(device.chain(PROMPT))
            answer = await service.handle(device.principal, frame)
            device.protocol.receive(answer.frame)
            opened = decode_server_message(answer.frame, 1 << 20)
            assert isinstance(opened, Opened)
            return device.protocol.cached, opened

    found, opened = asyncio.run(scenario())
    assert (found, opened.tiers) == (held, Inexact(inexact))


def test_a_server_that_keeps_exact_alone_gives_that_to_who_takes_int8(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, Inexact]:
        async with serving(tiny_path, reuse=(kept := reuse(int8=False))) as service:
            await left_behind(service, tiny_path, "int8")
            device = Device(service, tiny_path, cache="int8")
            held = await device.reopen(PROMPT)
            after = await device.step(held, PROMPT[held:] or [1])
            assert kept.pool.bytes_of("int8") == 0
            return held, after.tiers

    held, tiers = asyncio.run(scenario())
    assert (held > 90, tiers) == (True, ALL_EXACT)


def test_a_reply_on_int8_rows_is_near_and_says_what_it_stands_on(family_path: Path) -> None:
    async def scenario() -> tuple[list[int], Any, Any, Any]:
        async with serving(family_path, reuse=(kept := reuse())) as service:
            ids = await left_behind(service, family_path, "int8")
            plain = await Device(service, family_path, cache="off").open()
            right = await plain.step(0, PROMPT)
            device = Device(service, family_path, cache="int8")
            held = await device.reopen(PROMPT[:-1])
            near = await device.step(held, PROMPT[held:])
            assert near.tiers == Inexact(len(PROMPT))
            assert kept.taken_tiers == {"int8": held}
            # A later step stands on it as well, until the session is cut back below it.
            later = await device.step(len(PROMPT), [5])
            assert later.tiers == Inexact(len(PROMPT) + 1)
            again = await device.step(0, PROMPT)
            return ids, right.hidden, near.hidden, again

    ids, right, near, again = asyncio.run(scenario())
    assert ids == oracle.greedy(family_path, PROMPT, COUNT)
    size = float((right**2).sum()) ** 0.5
    assert 0 < float(((right - near) ** 2).sum()) ** 0.5 < 0.05 * size
    # It was sent again from the beginning, and taken in again.
    assert again.tiers.int8 == len(PROMPT)


def test_cut_back_below_the_first_such_row_a_session_is_exact_again(tiny_path: Path) -> None:
    async def scenario() -> list[Inexact]:
        async with serving(tiny_path, reuse=reuse()) as service:
            # Exact for everybody's beginning, int8 behind it.
            exact = await Device(service, tiny_path).open()
            await exact.step(0, PROMPT[:48])
            await left_behind(service, tiny_path, "int8")
            device = Device(service, tiny_path, cache="int8")
            held = await device.reopen(PROMPT[:96])
            assert held == 96
            told = [(await device.step(96, PROMPT[96:])).tiers]
            told.append((await device.step(50, [1, 2])).tiers)
            told.append((await device.step(48, [1, 2, 3])).tiers)
            return told

    assert asyncio.run(scenario()) == [Inexact(52), Inexact(4), ALL_EXACT]


def test_what_an_int8_session_goes_on_from_is_not_kept_twice(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        async with serving(tiny_path, reuse=(kept := reuse())) as service:
            exact = await Device(service, tiny_path).open()
            await exact.step(0, PROMPT[:64])
            before = kept.pool.bytes_of("exact")
            await left_behind(service, tiny_path, "int8")
            assert kept.pool.bytes_of("exact") == before
            starts = {run.start for run in kept.pool._kept.runs if run.tier == "int8"}
            return min(starts), len(starts)

    assert asyncio.run(scenario())[0] == 64


def test_rows_sent_in_vain_tell_their_tier(tiny_path: Path) -> None:
    async def scenario() -> Result:
        async with serving(tiny_path, reuse=reuse()) as service:
            await left_behind(service, tiny_path, "int8")
            device = await Device(service, tiny_path, cache="int8").open()
            answer = await service.handle(device.principal, device.frame(0, PROMPT))
            message = decode_server_message(answer.frame, 1 << 24)
            assert isinstance(message, Result)
            return message

    message = asyncio.run(scenario())
    assert (message.reused, message.tiers) == (96, Inexact(100))


def test_a_restore_tells_the_tiers_of_what_is_held_then(tiny_path: Path) -> None:
    async def scenario() -> Restored:
        async with serving(tiny_path, reuse=reuse()) as service:
            await left_behind(service, tiny_path, "int8")
            device = await Device(service, tiny_path, cache="int8").open()
            await device.step(0, PROMPT[:20])
            frame = device.protocol.restore(20, device.chain(PROMPT[:96]))
            message = decode_server_message(
                (await service.handle(device.principal, frame)).frame, 1 << 20
            )
            assert isinstance(message, Restored)
            return message

    message = asyncio.run(scenario())
    assert (message.cached, message.tiers) == (96, Inexact(76))


def test_forgetting_deletes_what_is_kept_in_every_tier(tiny_path: Path) -> None:
    async def scenario() -> list[int]:
        async with serving(tiny_path, reuse=(kept := reuse())) as service:
            await left_behind(service, tiny_path, "int8")
            await left_behind(service, tiny_path, "exact")
            assert {run.tier for run in kept.pool._kept.runs} == {"exact", "int8"}
            # By a session that may not even find what is int8.
            device = Device(service, tiny_path)
            await device.reopen(PROMPT)
            await device.close(keep=False)
            sought = [Device(service, tiny_path, cache=cache) for cache in ("exact", "int8")]
            return [await device.reopen(PROMPT) for device in sought]

    assert asyncio.run(scenario()) == [0, 0]


def test_a_salt_s_purge_takes_every_tier_of_it(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        async with serving(tiny_path, reuse=(kept := reuse())) as service:
            await left_behind(service, tiny_path, "int8", salt="s")
            await left_behind(service, tiny_path, "int8", salt="t")
            runs = len(kept.pool)
            await kept.purge("local", "s")
            return runs, len(kept.pool)

    before, after = asyncio.run(scenario())
    assert before == 2 * after > 0


def test_what_is_public_is_exact_and_goes_before_what_is_one_s_own(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, Inexact]:
        async with serving(tiny_path, reuse=(kept := reuse(public=True))) as service:
            await left_behind(service, tiny_path, "int8", principal=PUBLIC)
            assert kept.pool.bytes_of("int8")
            # Public prompts are asked for in exact alone, so that this one is nobody's.
            assert await Device(service, tiny_path, cache="int8").reopen(PROMPT) == 0
            await left_behind(service, tiny_path, "exact", principal=PUBLIC)
            device = Device(service, tiny_path, cache="int8")
            held = await device.reopen(PROMPT)
            return held, (await device.step(held, [1])).tiers

    held, tiers = asyncio.run(scenario())
    assert (held > 90, tiers) == (True, ALL_EXACT)


@pytest.mark.parametrize("left", ["exact", "int8"])
def test_an_audit_judges_each_tier_by_its_own_bound(family_path: Path, left: Cache) -> None:
    async def scenario() -> tuple[Any, list[int]]:
        async with serving(family_path, reuse=(kept := reuse(share=1.0))) as service:
            await left_behind(service, family_path, left)
            ids = await left_behind(service, family_path, "int8")
            assert kept.audit is not None
            return kept.audit.counts, ids

    counts, ids = asyncio.run(scenario())
    assert counts == {"passed": 1}
    assert ids == oracle.greedy(family_path, PROMPT, COUNT)


def test_exact_rows_behind_int8_ones_are_not_audited_as_exact(tiny_path: Path) -> None:
    async def scenario() -> Any:
        async with serving(tiny_path, reuse=(kept := reuse(share=1.0))) as service:
            int8 = await Device(service, tiny_path, cache="int8").open()
            await int8.step(0, PROMPT[:32])
            await int8.close()
            await settled(service)
            exact = await Device(service, tiny_path).open()
            await exact.step(0, PROMPT)
            device = Device(service, tiny_path, cache="int8")
            # Takes the int8 rows, and is then sent what is known as exact.
            kept.pool.discard([run for run in kept.pool._kept.runs if run.tier == "exact"])
            assert await device.reopen(PROMPT[:32]) == 32
            await (await Device(service, tiny_path).open()).step(0, PROMPT)
            await device.step(32, PROMPT[32:])
            assert kept.audit is not None
            return kept.audit.counts

    counts = asyncio.run(scenario())
    assert counts["failed"] == 0
    assert counts["passed"] >= 1


def test_an_audit_finds_whole_numbers_that_are_wrong(tiny_path: Path) -> None:
    async def scenario() -> tuple[Any, list[int]]:
        async with serving(tiny_path, reuse=(kept := reuse(share=1.0))) as service:
            await left_behind(service, tiny_path, "int8")
            for run in kept.pool._kept.runs:
                run.layers[-1][1, :, 3] = 100
            ids = await left_behind(service, tiny_path, "int8")
            assert kept.audit is not None
            return kept.audit.counts, ids

    counts, ids = asyncio.run(scenario())
    assert counts == {"failed": 1}
    assert ids == oracle.greedy(tiny_path, PROMPT, COUNT)


def test_what_is_kept_takes_a_third_of_the_bytes_of_float32_at_most(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        async with serving(tiny_path, reuse=(kept := reuse())) as service:
            await left_behind(service, tiny_path, "exact", salt="e")
            await left_behind(service, tiny_path, "int8", salt="i")
            layers = {
                tier: sum(
                    part.nbytes
                    for run in kept.pool._kept.runs
                    if run.tier == tier
                    for part in (*run.layers, *run.scales)
                )
                for tier in ("exact", "int8")
            }
            return layers["int8"], layers["exact"]

    int8, exact = asyncio.run(scenario())
    # Heads of the tiny model are narrow, so that scales count for more than in a real one.
    assert int8 < 0.36 * exact
