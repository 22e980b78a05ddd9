"""Members of a group share the beginnings of their prompts, and nobody else and nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.cache_groups import CacheGroups, Share, group_text
from split_server.sessions.reuse import Reuse
from split_wire.codec import decode_server_message
from split_wire.errors import UnknownCacheGroup
from split_wire.messages import Failure
from tests import oracle
from tests.engines import Device, TinySessions, serving

PROMPT = [11 + i % 60 for i in range(100)]
COUNT = 6
GROUPS = CacheGroups(["family=ann+bob+anybody", "others=bob+carol"])


@asynccontextmanager
async def keeping(path: Path, **options: Any) -> AsyncIterator[TinySessions]:
    """A running service with groups that keeps what its sessions compute."""
    kept = Reuse(RunPool(PoolLimits()), Namespaces("of the test"), frozenset({"anybody"}))
    async with serving(path, **{"reuse": kept, "groups": GROUPS} | options) as service:
        yield service


def member(service: TinySessions, path: Path, name: str, share: int = 70, **options: Any) -> Device:
    """A device of a principal in the family that shares its first positions."""
    return Device(service, path, name, **{"group": "family", "share": share} | options)


async def settled(service: TinySessions) -> None:
    """What sessions left behind is kept."""
    kept = service.steps.reuse
    assert kept is not None
    while kept.parking:
        await asyncio.gather(*kept.parking)


def test_a_member_finds_what_another_one_shares_and_nothing_behind_it(family_path: Path) -> None:
    async def scenario() -> tuple[int, list[int], int]:
        async with keeping(family_path) as service:
            ann = await member(service, family_path, "ann").open()
            await ann.greedy(PROMPT, COUNT)
            await ann.close()
            await settled(service)
            bob = member(service, family_path, "bob", share=100)
            held = await bob.reopen(PROMPT)
            ids = await bob.greedy(PROMPT, COUNT, start=held)
            return held, ids, await member(service, family_path, "ann").reopen(PROMPT)

    held, ids, own = asyncio.run(scenario())
    # Seventy positions are four whole blocks.
    assert held == 64
    assert ids == oracle.greedy(family_path, PROMPT, COUNT)
    assert own == 96


@pytest.mark.parametrize(
    ("first", "second", "held"),
    [
        ({"salt": "s"}, {"salt": "t"}, 64),
        ({}, {"group": "others"}, 0),
        ({}, {"group": None}, 0),
        ({}, {"share": 0}, 0),
        ({}, {"share": 15}, 0),
        ({}, {"share": 32}, 32),
        ({"share": 32}, {}, 32),
        ({"cache": "off"}, {}, 0),
        ({}, {"cache": "off"}, 0),
        ({"group": None}, {}, 0),
    ],
)
def test_the_group_and_what_both_share_decide_and_no_salt(
    tiny_path: Path, first: dict[str, Any], second: dict[str, Any], held: int
) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            await (await member(service, tiny_path, "ann", **first).open()).step(0, PROMPT)
            return await member(service, tiny_path, "bob", **second).reopen(PROMPT)

    assert asyncio.run(scenario()) == held


def test_what_a_member_knew_alone_is_shared_once_it_names_the_group(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path, "ann").open()).step(0, PROMPT)
            ann = member(service, tiny_path, "ann")
            held = await ann.reopen(PROMPT)
            await ann.step(held, PROMPT[held:])
            await ann.close()
            await settled(service)
            return held, await member(service, tiny_path, "bob").reopen(PROMPT)

    assert asyncio.run(scenario()) == (96, 64)


def test_strangers_without_a_salt_share_nothing(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            await (await member(service, tiny_path, "anybody").open()).step(0, PROMPT)
            return await member(service, tiny_path, "bob").reopen(PROMPT)

    assert asyncio.run(scenario()) == 0


@pytest.mark.parametrize("options", [{}, {"reuse": None}, {"groups": None}])
@pytest.mark.parametrize(("name", "group"), [("carol", "family"), ("ann", "nobody's"), ("ann", "")])
def test_a_group_that_is_not_ones_own_is_refused_like_one_that_is_not_there(
    tiny_path: Path, options: dict[str, Any], name: str, group: str
) -> None:
    async def scenario() -> tuple[Any, int]:
        async with keeping(tiny_path, **options) as service:
            device = Device(service, tiny_path, name, group=group, share=64)
            answer = await service.handle(name, device.protocol.open())
            return decode_server_message(answer.frame, 1 << 20), len(service.store)

    failure, sessions = asyncio.run(scenario())
    assert isinstance(failure, Failure)
    assert (failure.code, sessions) == ("unknown_cache_group", 0)


def test_what_a_member_shared_is_its_own_to_pay_for_and_goes_with_it(tiny_path: Path) -> None:
    async def scenario() -> list[int]:
        async with keeping(tiny_path) as service:
            assert service.steps.reuse is not None
            pool = service.steps.reuse.pool
            await (await member(service, tiny_path, "ann").open()).step(0, PROMPT)
            await (await member(service, tiny_path, "bob").open()).step(0, PROMPT[:64])
            counts = [pool.count_of("ann"), pool.count_of("bob")]
            service.steps.forget(lambda name: name == "ann")
            return [*counts, len(pool), await member(service, tiny_path, "bob").reopen(PROMPT)]

    # What is shared and what follows lie in runs of their own.
    assert asyncio.run(scenario()) == [2, 0, 0, 0]


def test_a_member_that_leaves_no_trace_takes_nothing_of_the_others(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        async with keeping(tiny_path) as service:
            ann = await member(service, tiny_path, "ann").open()
            await ann.step(0, PROMPT)
            bob = member(service, tiny_path, "bob")
            assert await bob.reopen(PROMPT) == 64
            await bob.step(64, PROMPT[64:])
            await bob.close(keep=False)
            others = await member(service, tiny_path, "bob").reopen(PROMPT)
            await ann.close(keep=False)
            return others, await member(service, tiny_path, "bob").reopen(PROMPT)

    assert asyncio.run(scenario()) == (64, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "family",
        "family=",
        "=ann",
        "family=ann+",
        "family=ann,bob",
        "fam ily=ann",
        "f=*",
        "f=a:b",
    ],
)
def test_what_is_no_group_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match="is not a group; write it like"):
        group_text(text)


def test_a_group_is_a_name_and_its_members() -> None:
    groups = CacheGroups([group_text(" us = ann + device:1f2e "), group_text("us=bob")])
    members = frozenset({"ann", "device:1f2e", "bob"})
    assert groups.share("bob", "us", 32) == Share("us", members, 32)
    assert groups.share("bob", None, 32) is None
    with pytest.raises(UnknownCacheGroup):
        groups.share("carol", "us", 32)
