"""A session that is closed without keeping it leaves nothing; what others go on from stays."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from split_server.sessions.traces import Traces
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import Close, Failure
from tests import oracle
from tests.engines import Device, HeldRunner, TinySessions, tiny_backbone
from tests.split_server.sessions.test_reuse import PROMPT, keeping, settled

OTHER = [*PROMPT[:64], *(70 - i % 50 for i in range(60))]


def kept(service: TinySessions) -> int:
    reuse = service.steps.reuse
    assert reuse is not None
    return reuse.pool.held_bytes


def test_nothing_is_found_of_a_session_that_was_not_to_be_kept(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, int, int]:
        async with keeping(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            await device.greedy(PROMPT, 70)
            before = kept(service)
            await device.close(keep=False)
            await settled(service)
            return before, kept(service), await Device(service, tiny_path).reopen(PROMPT)

    before, after, held = asyncio.run(scenario())
    assert before > 0
    assert (after, held) == (0, 0)


def test_a_second_chat_with_the_same_beginning_keeps_it(family_path: Path) -> None:
    async def scenario() -> tuple[int, int, list[int]]:
        async with keeping(family_path) as service:
            one = await Device(service, family_path).open()
            await one.greedy(PROMPT, 3)
            other = await Device(service, family_path).open()
            await other.greedy(OTHER, 3)
            await one.close(keep=False)
            await settled(service)
            gone = await Device(service, family_path).reopen(PROMPT)
            again = Device(service, family_path)
            held = await again.reopen(OTHER[:-1])
            return gone, held, await again.greedy(OTHER, 3, start=held)

    gone, held, ids = asyncio.run(scenario())
    assert (gone, held) == (64, 112)
    assert ids == oracle.greedy(family_path, OTHER, 3)


def test_what_an_earlier_session_kept_goes_with_one_that_only_asked_for_it(
    tiny_path: Path,
) -> None:
    async def scenario() -> tuple[int, int, int]:
        async with keeping(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            ids = await device.greedy(PROMPT, 9)
            await device.close()
            await settled(service)
            before = kept(service)
            # The device knows one token more than the server has positions.
            held = await device.reopen([*PROMPT, *ids])
            await device.close(keep=False)
            return before, held, kept(service)

    before, held, after = asyncio.run(scenario())
    assert before > 0
    assert held == 96
    assert after == 0


def test_a_session_that_is_being_kept_just_now_goes_as_well(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            for at in range(60):
                await device.step(at, [PROMPT[at]])
            await device.close()
            await device.reopen(PROMPT[:60])
            await device.close(keep=False)
            await settled(service)
            return kept(service)

    assert asyncio.run(scenario()) == 0


@pytest.mark.parametrize("rows", ["last", "all"])
def test_branches_that_edits_cut_off_go_too(tiny_path: Path, rows: str) -> None:
    async def scenario() -> tuple[int, int]:
        async with keeping(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            await device.step(0, PROMPT)
            for start in (70, 40, 20):
                embeddings = oracle.embeddings(tiny_path, [5 + start, *PROMPT[:50]]).numpy()
                await device.send(device.protocol.step(start, embeddings, rows))  # type: ignore[arg-type]
            before = kept(service)
            await device.close(keep=False)
            await settled(service)
            return before, kept(service)

    before, after = asyncio.run(scenario())
    assert before > 0
    assert after == 0


def test_a_step_under_way_is_given_up_and_publishes_nothing(tiny_path: Path) -> None:
    async def scenario() -> tuple[str, int, int]:
        backbone = tiny_backbone(tiny_path)
        runner = HeldRunner(backbone)
        async with keeping(tiny_path, backbone=backbone, runner=runner) as service:
            device = await Device(service, tiny_path).open()
            stepping = asyncio.ensure_future(service.handle("local", device.frame(0, PROMPT)))
            await asyncio.to_thread(runner.begun.acquire)
            await device.close(keep=False)
            answer = await stepping
            runner.gate.release(10)
            await service.steps.tasks.drain()
            await settled(service)
            assert answer.error is not None
            return answer.error.code, kept(service), len(service.store)

    assert asyncio.run(scenario()) == ("unknown_session", 0, 0)


def test_a_session_that_is_not_there_cannot_be_deleted(tiny_path: Path) -> None:
    async def scenario() -> list[bool]:
        async with keeping(tiny_path) as service:
            device = await Device(service, tiny_path, "ann").open()
            opened = device.protocol.opened
            assert opened is not None
            refused = []
            for principal, session in (("ann", "nobody's"), ("bob", opened.session)):
                frame = encode_message(Close(session, keep=False))
                answer = await service.handle(principal, frame)
                message = decode_server_message(answer.frame, 1 << 20)
                refused.append(isinstance(message, Failure) and message.code == "unknown_session")
            await device.step(0, PROMPT)
            return refused

    assert asyncio.run(scenario()) == [True, True]


@pytest.mark.parametrize("options", [{"cache": "off"}, {"principal": "anybody"}])
def test_where_nothing_is_kept_there_is_nothing_to_delete(
    tiny_path: Path, options: dict[str, str]
) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path, "ann").open()).step(0, PROMPT)
            before = kept(service)
            device = await Device(service, tiny_path, **options).open()  # type: ignore[arg-type]
            await device.step(0, PROMPT)
            await device.close(keep=False)
            return kept(service) - before

    assert asyncio.run(scenario()) == 0


def test_what_somebody_else_published_stays_his(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path, "bob").open()).step(0, PROMPT)
            device = await Device(service, tiny_path, "ann").open()
            await device.step(0, PROMPT)
            await device.close(keep=False)
            return await Device(service, tiny_path, "bob").reopen(PROMPT)

    assert asyncio.run(scenario()) == 96


def test_a_session_remembers_so_many_branches_and_no_more() -> None:
    traces = Traces()
    for block in range(5000):
        traces.add([block.to_bytes(32, "big")])
    assert traces.size == 4096 * 32
    assert next(traces.names()) == (904).to_bytes(32, "big")


@pytest.mark.parametrize("restored", [0, 96])
@pytest.mark.parametrize("more", [0, 5, 40])
def test_a_session_that_still_holds_the_text_does_not_keep_it_again(
    tiny_path: Path, more: int, restored: int
) -> None:
    """``more``: tokens that the session, which its device has left, holds behind the text."""

    async def scenario() -> tuple[int, int]:
        async with keeping(tiny_path) as service:
            left = await Device(service, tiny_path).open()
            if restored:
                await left.step(0, PROMPT)
            for at, token in enumerate([*PROMPT, *OTHER[:more]][restored and 100 :]):
                await left.step((restored and 100) + at, [token])
            again = Device(service, tiny_path)
            await again.reopen(PROMPT)
            await again.close(keep=False)
            before = kept(service)
            await left.close()
            await settled(service)
            return kept(service) - before, await Device(service, tiny_path).reopen(PROMPT[:60])

    grown, held = asyncio.run(scenario())
    assert grown <= 0
    assert more or held == 0


def test_a_session_that_holds_a_part_of_the_text_does_not_keep_that_again(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            left = await Device(service, tiny_path).open()
            for at in range(57):
                await left.step(at, [PROMPT[at]])
            again = await Device(service, tiny_path).open()
            await again.step(0, PROMPT)
            await again.close(keep=False)
            await left.close()
            await settled(service)
            return kept(service)

    assert asyncio.run(scenario()) == 0


def test_a_step_that_ends_with_a_text_that_was_forgotten_meanwhile_is_not_kept(
    tiny_path: Path,
) -> None:
    async def scenario() -> int:
        backbone = tiny_backbone(tiny_path)
        runner = HeldRunner(backbone)
        async with keeping(tiny_path, backbone=backbone, runner=runner) as service:
            left = await Device(service, tiny_path).open()
            stepping = asyncio.ensure_future(left.step(0, PROMPT))
            await asyncio.to_thread(runner.begun.acquire)
            again = Device(service, tiny_path)
            await again.reopen(PROMPT)
            await again.close(keep=False)
            runner.gate.release(10)
            await stepping
            await left.close()
            await settled(service)
            return kept(service)

    assert asyncio.run(scenario()) == 0


def test_another_chat_with_the_same_beginning_is_kept_when_it_ends(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            other = await Device(service, tiny_path).open()
            for at, token in enumerate(OTHER):
                await other.step(at, [token])
            one = await Device(service, tiny_path).open()
            await one.step(0, PROMPT)
            await one.close(keep=False)
            await other.close()
            await settled(service)
            return await Device(service, tiny_path).reopen(OTHER)

    assert asyncio.run(scenario()) == len(OTHER)
