"""Rows that may be a draft are kept for nobody before their device goes on from them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from split_server.kv.block_key import BLOCK, Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session
from split_wire.client import StepCompleted
from tests import oracle
from tests.engines import Device, TinySessions, serving

PROMPT = [11 + i % 60 for i in range(90)]
WRONG = [5] * 12


def reuse() -> Reuse:
    return Reuse(RunPool(PoolLimits()), Namespaces("of the test"))


async def drafted(device: Device, start: int, ids: list[int], draft: list[int]) -> StepCompleted:
    embeddings = oracle.embeddings(device.path, [*ids, *draft]).numpy()
    event = await device.send(device.protocol.step(start, embeddings, 1 + len(draft)))
    assert isinstance(event, StepCompleted), event
    return event


def kept(service: TinySessions, device: Device, session: Session, ids: list[int]) -> list[int]:
    """Lengths of beginnings of ``ids`` that are kept."""
    pool, chain = _reuse(service).pool, device.chain(ids)
    assert session.names is not None
    found = range(1, len(ids) + 1)
    return [at for at in found if pool.knows(session.names.name(at, chain.at(at)))]


def _reuse(service: TinySessions) -> Reuse:
    assert service.steps.reuse is not None
    return service.steps.reuse


async def settled(service: TinySessions) -> None:
    while _reuse(service).parking:
        await asyncio.gather(*_reuse(service).parking)


def only(service: TinySessions) -> Session:
    (session,) = service.steps.store.of("local")
    return session


def test_a_draft_that_ends_a_session_is_not_parked(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, reuse=reuse()) as service:
            device = await Device(service, tiny_path).open()
            await drafted(device, 0, PROMPT, WRONG)
            session = only(service)
            await device.close()
            await settled(service)
            assert max(kept(service, device, session, PROMPT)) == len(PROMPT)
            assert not {*range(len(PROMPT) + 1, 103)} & {
                *kept(service, device, session, [*PROMPT, *WRONG])
            }

    asyncio.run(scenario())


def test_a_step_publishes_up_to_its_draft(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, reuse=reuse()) as service:
            device = await Device(service, tiny_path).open()
            await drafted(device, 0, PROMPT, WRONG)
            # 102 positions are six whole blocks; of the prompt are five of them.
            held = kept(service, device, only(service), [*PROMPT, *WRONG])
            assert max(held) == len(PROMPT) - len(PROMPT) % BLOCK

    asyncio.run(scenario())


def test_what_is_rejected_leaves_no_trace_and_what_is_accepted_is_kept(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, reuse=reuse()) as service:
            device = await Device(service, tiny_path).open()
            await drafted(device, 0, PROMPT, WRONG)
            # Of the twelve, five were chosen.
            right = [*PROMPT, *WRONG[:5]]
            await drafted(device, len(right), [7], WRONG[:3])
            session = only(service)
            assert not session.traces.size
            await device.close()
            await settled(service)
            assert max(kept(service, device, session, [*right, 7])) == len(right) + 1
            assert not {*range(len(right) + 1, 103)} & {
                *kept(service, device, session, [*PROMPT, *WRONG])
            }

    asyncio.run(scenario())


def test_an_edit_keeps_the_branch_that_it_cuts_off_without_the_draft(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path, reuse=reuse()) as service:
            device = await Device(service, tiny_path).open()
            await drafted(device, 0, PROMPT, WRONG)
            await device.step(10, [9, 8, 7])
            session = only(service)
            assert max(kept(service, device, session, PROMPT)) == len(PROMPT)
            assert len(PROMPT) + len(WRONG) not in kept(service, device, session, [*PROMPT, *WRONG])

    asyncio.run(scenario())


def test_replies_after_rejected_rows_are_those_of_the_model(family_path: Path) -> None:
    async def scenario() -> tuple[list[int], int]:
        async with serving(family_path, reuse=reuse()) as service:
            device = await Device(service, family_path).open()
            await drafted(device, 0, PROMPT, WRONG)
            ids = await device.greedy(PROMPT, 3, start=len(PROMPT) - 1)
            again = Device(service, family_path)
            return ids, await again.reopen([*PROMPT, *WRONG, *PROMPT])

    ids, held = asyncio.run(scenario())
    assert ids == oracle.greedy(family_path, PROMPT, 3)
    assert held <= len(PROMPT)
