"""A share of what is known is computed again and compared, and what is wrong goes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from split_server.engine.model.runner import ModelRunner
from split_server.kv.block_key import PUBLIC, Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.audit import Audit
from split_server.sessions.reuse import Reuse
from tests import oracle
from tests.engines import Device, TinySessions, serving, tiny_backbone

PROMPT = [11 + i % 60 for i in range(100)]
COUNT = 6


def audited(share: float = 1.0, bound: float = 1e-4, **options: Any) -> Reuse:
    pool = RunPool(PoolLimits())
    bounds = {"exact": bound, "int8": 0.1}
    audit = Audit(pool, share, bounds, draw=lambda: 0.5)
    return Reuse(pool, Namespaces("of the test"), audit=audit, **options)


def spoil(service: TinySessions) -> None:
    """Have every kept run hold something else in one of its blocks."""
    reuse = service.steps.reuse
    assert reuse is not None
    for run in [*reuse.pool._kept.runs]:
        run.layers[-1][1, :, 3] += 0.5


async def replies(service: TinySessions, path: Path, principal: str = "ann") -> list[int]:
    device = await Device(service, path, principal=principal).open()
    ids = await device.greedy(PROMPT, COUNT)
    await device.close()
    assert service.steps.reuse is not None
    while service.steps.reuse.parking:
        await asyncio.gather(*service.steps.reuse.parking)
    return ids


def test_what_is_right_passes_in_every_family_and_stays(family_path: Path) -> None:
    async def scenario() -> tuple[Any, int, list[int]]:
        async with serving(family_path, reuse=(kept := audited())) as service:
            await replies(service, family_path)
            again = await replies(service, family_path)
            assert kept.audit is not None
            return kept.audit.counts, kept.taken["sent"], again

    counts, taken, ids = asyncio.run(scenario())
    assert counts == {"passed": 1}
    assert taken == 0
    assert ids == oracle.greedy(family_path, PROMPT, COUNT)


def test_what_is_wrong_goes_and_the_reply_is_right(tiny_path: Path) -> None:
    async def scenario() -> tuple[Any, list[int], list[int]]:
        async with serving(tiny_path, reuse=(kept := audited())) as service:
            await replies(service, tiny_path)
            spoil(service)
            second = await replies(service, tiny_path)
            third = await replies(service, tiny_path)
            assert kept.audit is not None
            assert kept.pool.evicted["discarded"]
            return kept.audit.counts, second, third

    counts, second, third = asyncio.run(scenario())
    # The second reply left what it had computed, which is right.
    assert counts == {"failed": 1, "passed": 1}
    assert second == third == oracle.greedy(tiny_path, PROMPT, COUNT)


def test_who_has_three_failures_has_nothing_kept_any_more_and_others_have(
    tiny_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> tuple[bool, bool, int, list[int]]:
        async with serving(tiny_path, reuse=(kept := audited())) as service:
            await replies(service, tiny_path, "bob")
            for _ in range(4):
                await replies(service, tiny_path, "ann")
                for run in [*kept.pool._kept.runs]:
                    if run.owner == "ann":
                        run.layers[0][0] += 1.0
            ids = await replies(service, tiny_path, "ann")
            return kept.stopped("ann"), kept.stopped("bob"), kept.pool.held_by("ann"), ids

    ann, bob, held, ids = asyncio.run(scenario())
    assert (ann, bob, held) == (True, False, 0)
    assert ids == oracle.greedy(tiny_path, PROMPT, COUNT)
    assert "nothing is kept for ann any more" in caplog.text


def test_failures_of_three_principals_end_it_for_everybody(tiny_path: Path) -> None:
    async def scenario() -> tuple[bool, int]:
        async with serving(tiny_path, reuse=(kept := audited())) as service:
            await replies(service, tiny_path, "dan")
            for principal in ("ann", "bob", "eve"):
                await replies(service, tiny_path, principal)
                spoil(service)
                assert not kept.stopped("dan")
                await replies(service, tiny_path, principal)
            return kept.stopped("dan"), len(kept.pool)

    assert asyncio.run(scenario()) == (True, 0)


def test_only_the_share_is_computed_again(tiny_path: Path) -> None:
    async def scenario() -> tuple[Any, int]:
        async with serving(tiny_path, reuse=(kept := audited(share=0.5))) as service:
            await replies(service, tiny_path)
            await replies(service, tiny_path)
            assert kept.audit is not None
            return kept.audit.counts, kept.taken["sent"]

    # The number that is drawn is the share itself.
    assert asyncio.run(scenario()) == ({}, 96)


class Failing(ModelRunner):
    """Runs nothing while ``fails``."""

    fails = False

    def run(self, slices: Any) -> Any:
        if self.fails:
            raise RuntimeError
        return super().run(slices)


def test_a_step_that_fails_audits_nothing_and_lets_go_of_what_it_held(tiny_path: Path) -> None:
    async def scenario() -> tuple[Any, list[int]]:
        backbone = tiny_backbone(tiny_path)
        runner = Failing(backbone)
        options = {"reuse": (kept := audited()), "backbone": backbone, "runner": runner}
        async with serving(tiny_path, **options) as service:
            await replies(service, tiny_path)
            device = await Device(service, tiny_path, principal="ann").open()
            runner.fails = True
            await device.refused(device.frame(0, PROMPT))
            runner.fails = False
            assert kept.audit is not None
            return kept.audit.counts, [run.readers for run in kept.pool._kept.runs]

    counts, readers = asyncio.run(scenario())
    assert counts == {"unfinished": 1}
    assert set(readers) == {0}


def test_everybody_finds_what_is_public_and_stores_it_no_second_time(family_path: Path) -> None:
    async def scenario() -> tuple[int, int, int, list[int]]:
        kept = Reuse(RunPool(PoolLimits()), Namespaces("of the test"), public=True)
        async with serving(family_path, reuse=kept) as service:
            await replies(service, family_path, PUBLIC)
            device = Device(service, family_path, principal="ann")
            held = await device.reopen(PROMPT[:80])
            ids = await device.greedy(PROMPT, COUNT, start=held)
            own = sum(run.end - run.start for run in kept.pool._kept.runs if run.owner == "ann")
            service.steps.forget(lambda name: name != "ann")
            return held, own, kept.pool.held_by(PUBLIC), ids

    held, own, public, ids = asyncio.run(scenario())
    assert held == 80
    assert own == 0
    assert public > 0
    assert ids == oracle.greedy(family_path, PROMPT, COUNT)


def test_what_follows_something_public_is_its_owners_alone(tiny_path: Path) -> None:
    longer = [*PROMPT, *range(5, 69)]

    async def scenario() -> list[int]:
        kept = Reuse(RunPool(PoolLimits()), Namespaces("of the test"), public=True)
        async with serving(tiny_path, reuse=kept) as service:
            await replies(service, tiny_path, PUBLIC)
            device = await Device(service, tiny_path, principal="ann").open()
            await device.step(0, longer)
            return [
                await Device(service, tiny_path, principal=who).reopen(longer)
                for who in ("ann", "bob")
            ]

    assert asyncio.run(scenario()) == [160, 96]


def test_strangers_and_who_asks_for_nothing(tiny_path: Path) -> None:
    async def scenario() -> list[int]:
        kept = Reuse(
            RunPool(PoolLimits()), Namespaces("of the test"), frozenset({"anybody"}), public=True
        )
        async with serving(tiny_path, reuse=kept) as service:
            await replies(service, tiny_path, PUBLIC)
            stranger = Device(service, tiny_path, principal="anybody")
            off = Device(service, tiny_path, principal="ann", cache="off")
            return [await device.reopen(PROMPT[:97]) for device in (stranger, off)]

    # What is public tells nothing of anybody; who wants no cache looks nothing up.
    assert asyncio.run(scenario()) == [96, 0]
