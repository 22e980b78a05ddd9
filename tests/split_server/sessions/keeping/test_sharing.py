"""Sessions that begin with the same kept prefix hold it once, and reply as if each had its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.kv.sharing_rule import SharingRule
from split_server.memory.budget import BudgetLimits, ByteBudget
from split_server.memory.room import Claim
from split_server.sessions.keeping.sharing import Segment, Sharing
from split_server.sessions.reuse import Reuse
from split_wire.attention import AttentionRequest
from split_wire.client import StepCompleted
from tests import oracle
from tests.checkpoints import ALL_FAMILIES, tiny_checkpoint
from tests.engines import Device, TinySessions, serving, tiny_backbone

PROMPT = [11 + i % 60 for i in range(96)]
LEAST, COUNT = 3, 5


@dataclass
class Shared:
    """A service whose sessions share from ``LEAST`` of them on."""

    service: TinySessions
    sharing: Sharing
    room: ByteBudget
    path: Path

    async def publish(self, principal: str = "local") -> None:
        """Have the prompt kept by a session that has ended."""
        first = await Device(self.service, self.path, principal).open()
        await first.step(0, [*PROMPT, 1])
        await first.close()
        reuse = self.service.steps.reuse
        assert reuse is not None
        await asyncio.gather(*reuse.parking)

    async def standing(self, count: int, principal: str = "local") -> list[Device]:
        """Sessions that have taken the prompt in."""
        devices = [Device(self.service, self.path, principal) for _ in range(count)]
        for device in devices:
            assert await device.reopen(PROMPT) == len(PROMPT)
        return devices


@asynccontextmanager
async def shared(path: Path, kind: type[ByteBudget] = ByteBudget) -> AsyncIterator[Shared]:
    backbone, pool = tiny_backbone(path), RunPool(PoolLimits())
    room = kind(BudgetLimits(), backbone.info.kv_bytes_per_position, runs=pool)
    sharing = Sharing(room, SharingRule(((64, LEAST),)))
    reuse = Reuse(pool, Namespaces("of the test"), sharing=sharing)
    async with serving(path, backbone=backbone, reuse=reuse, room=room) as service:
        yield Shared(service, sharing, room, path)


def own(number: int) -> list[int]:
    """What a session says behind the common prompt."""
    return [5 + number, 7, 9 + number]


async def replies(path: Path, devices: list[Device]) -> list[tuple[list[int], list[int]]]:
    """Of all sessions at once, and what the model says."""
    prompts = [[*PROMPT, *own(number)] for number in range(len(devices))]
    work = [
        device.greedy(prompt, COUNT, start=len(PROMPT))
        for device, prompt in zip(devices, prompts, strict=True)
    ]
    said = await asyncio.gather(*work)
    expected = [oracle.greedy(path, prompt, COUNT) for prompt in prompts]
    # The oracle ends where the model does.
    return [(ids[: len(right)], right) for ids, right in zip(said, expected, strict=True)]


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_sessions_that_share_reply_as_generate_does(
    family: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tiny_checkpoint(family, tmp_path_factory.mktemp(family))

    async def scenario() -> None:
        async with shared(path) as here:
            await here.publish()
            devices = await here.standing(6)
            for said, expected in await replies(path, devices):
                assert said == expected
            assert here.sharing.sessions == 6

    asyncio.run(scenario())


def test_sessions_that_came_before_there_were_enough_follow_with_their_next_step(
    tiny_path: Path,
) -> None:
    async def scenario() -> None:
        async with shared(tiny_path) as here:
            await here.publish()
            devices = await here.standing(LEAST - 1)
            assert here.sharing.sessions == 0
            devices += await here.standing(1)
            assert here.sharing.sessions == 1
            for said, expected in await replies(tiny_path, devices):
                assert said == expected
            assert here.sharing.sessions == LEAST

    asyncio.run(scenario())


def test_what_is_shared_takes_its_space_once(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with shared(tiny_path) as here:
            await here.publish()
            devices = await here.standing(8)
            await replies(tiny_path, devices)
            row = here.service.info.kv_bytes_per_position
            held = sum(session.reserved for session in here.service.store.idle())
            # Each has buffers for its own few positions, of the smallest size.
            assert held == 8 * 32 * row
            assert here.sharing.bytes >= len(PROMPT) * row
            assert here.room.in_use < 5 * len(PROMPT) * row

    asyncio.run(scenario())


def test_the_few_that_are_left_hold_all_themselves_and_the_space_is_given_back(
    tiny_path: Path,
) -> None:
    async def scenario() -> None:
        async with shared(tiny_path) as here:
            await here.publish()
            devices = await here.standing(4)
            before = await replies(tiny_path, devices)
            for device in devices[2:]:
                await device.close()
            for number, device in enumerate(devices[:2]):
                prompt = [*PROMPT, *own(number), *before[number][0]]
                more = await device.greedy(prompt, COUNT, start=len(prompt) - 1)
                assert more == oracle.greedy(tiny_path, prompt, COUNT)
            assert here.sharing.sessions == 0
            here.sharing.tidy()
            assert here.sharing.bytes == 0

    asyncio.run(scenario())


def test_an_edit_within_the_common_part_goes_on_as_generate_does(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with shared(tiny_path) as here:
            await here.publish()
            devices = await here.standing(4)
            await replies(tiny_path, devices)
            edited = [*PROMPT[:40], 3, 1, 4, 1, 5]
            said = await devices[0].greedy(edited, COUNT, start=40)
            assert said == oracle.greedy(tiny_path, edited, COUNT)
            # The others have all of it as before.
            prompt = [*PROMPT, *own(1), 2]
            said = await devices[1].greedy(prompt, COUNT, start=len(PROMPT))
            assert said == oracle.greedy(tiny_path, prompt, COUNT)

    asyncio.run(scenario())


def test_steps_of_many_rows_and_with_attention_see_the_common_part(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with shared(tiny_path) as here:
            await here.publish()
            devices = await here.standing(4)
            await replies(tiny_path, devices)
            for rows in (3, 90):
                prompt = [*PROMPT, *(2 + at % 50 for at in range(rows))]
                said = await devices[0].greedy(prompt, COUNT, start=len(PROMPT))
                assert said == oracle.greedy(tiny_path, prompt, COUNT)
            watched = devices[1].protocol
            rows_of = oracle.embeddings(tiny_path, [4]).numpy()
            frame = watched.step(len(PROMPT), rows_of, attention=AttentionRequest())
            event = await devices[1].send(frame)
            assert isinstance(event, StepCompleted)
            assert event.attention is not None
            assert event.attention.values.shape[-1] == len(PROMPT) + 1

    asyncio.run(scenario())


def test_principals_share_nothing_with_each_other(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with shared(tiny_path) as here:
            for principal in ("ann", "bob"):
                await here.publish(principal)
            mine = await here.standing(LEAST - 1, "ann")
            others = await here.standing(LEAST - 1, "bob")
            await replies(tiny_path, [*mine, *others])
            assert here.sharing.sessions == 0

    asyncio.run(scenario())


def test_without_room_for_what_would_be_shared_each_session_has_its_own(tiny_path: Path) -> None:
    class Full(ByteBudget):
        """Has space for sessions, and for nothing that they have in common."""

        def fits(self, claim: Claim) -> bool:
            return not isinstance(claim.holding, Segment) and super().fits(claim)

    async def scenario() -> None:
        async with shared(tiny_path, Full) as here:
            await here.publish()
            devices = await here.standing(4)
            assert here.sharing.sessions == 0
            assert here.sharing.bytes == 0
            for said, expected in await replies(tiny_path, devices):
                assert said == expected

    asyncio.run(scenario())
