"""What sessions computed is kept, and taken in by later ones in place of computing it again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.reuse import Reuse
from split_wire.codec import decode_server_message, encode_message
from split_wire.errors import PrefixMismatch, StartBeyondCache, StepConflict
from split_wire.messages import Failure, Restore
from split_wire.probe import Probe
from tests import oracle
from tests.engines import Device, HeldRunner, TinySessions, serving, tiny_backbone

PROMPT = [11 + i % 60 for i in range(100)]
COUNT = 6


def reuse(**limits: Any) -> Reuse:
    return Reuse(RunPool(PoolLimits(**limits)), Namespaces("of the test"), frozenset({"anybody"}))


@asynccontextmanager
async def keeping(path: Path, **options: Any) -> AsyncIterator[TinySessions]:
    """A running service that keeps what its sessions compute."""
    async with serving(path, reuse=options.pop("reuse", None) or reuse(), **options) as service:
        yield service


async def settled(service: TinySessions) -> None:
    """What sessions left behind is kept."""
    kept = service.steps.reuse
    assert kept is not None
    while kept.parking:
        await asyncio.gather(*kept.parking)


def test_a_second_session_begins_with_what_the_first_one_computed(family_path: Path) -> None:
    async def scenario() -> tuple[int, list[int]]:
        async with keeping(family_path) as service:
            first = await Device(service, family_path).open()
            await first.greedy(PROMPT, COUNT)
            second = Device(service, family_path)
            held = await second.reopen(PROMPT[:-1])
            return held, await second.greedy(PROMPT, COUNT, start=held)

    held, ids = asyncio.run(scenario())
    assert held == 96
    assert ids == oracle.greedy(family_path, PROMPT, COUNT)


def test_a_session_that_was_closed_goes_on_where_it_stood(family_path: Path) -> None:
    async def scenario() -> tuple[int, list[int], list[int]]:
        async with keeping(family_path) as service:
            device = await Device(service, family_path).open()
            ids = await device.greedy(PROMPT, COUNT)
            await device.close()
            await settled(service)
            # The last token was chosen and not sent.
            held = await device.reopen([*PROMPT, *ids[:-1]])
            return held, ids, await device.greedy([*PROMPT, *ids], COUNT, start=held)

    held, ids, more = asyncio.run(scenario())
    assert held == len(PROMPT) + COUNT - 1
    assert [*ids, *more] == oracle.greedy(family_path, PROMPT, 2 * COUNT)


def test_what_goes_on_after_parking_is_what_would_have_without_bit_for_bit(
    tiny_path: Path,
) -> None:
    async def scenario() -> tuple[Any, Any]:
        async with keeping(tiny_path) as service:
            stayed, left = [await Device(service, tiny_path).open() for _ in range(2)]
            for device in (stayed, left):
                for at, end in ((0, 37), (37, 64), (64, 91)):
                    await device.step(at, PROMPT[at:end])
            await left.close()
            await settled(service)
            assert await left.reopen(PROMPT[:91]) == 91
            return await stayed.step(91, PROMPT[91:]), await left.step(91, PROMPT[91:])

    one, other = asyncio.run(scenario())
    assert np.array_equal(one.hidden, other.hidden)


def test_rows_that_are_sent_in_vain_are_not_computed_again(tiny_path: Path) -> None:
    class Counting(HeldRunner):
        rows = 0

        def run(self, slices: Any) -> Any:
            self.rows += sum(part.rows for part in slices)
            self.gate.release()
            return super().run(slices)

    async def scenario() -> tuple[int, Any, Any]:
        backbone = tiny_backbone(tiny_path)
        runner = Counting(backbone)
        async with keeping(tiny_path, backbone=backbone, runner=runner) as service:
            first = await Device(service, tiny_path).open()
            before = await first.step(0, PROMPT)
            second = await Device(service, tiny_path).open()
            after = await second.step(0, PROMPT)
            return runner.rows, before, after

    rows, before, after = asyncio.run(scenario())
    assert rows == len(PROMPT) + len(PROMPT) - 96
    np.testing.assert_allclose(before.hidden, after.hidden, rtol=0, atol=1e-5)
    assert after.cached == len(PROMPT)


def test_the_branch_that_an_edit_cuts_off_is_kept(tiny_path: Path) -> None:
    async def scenario() -> int:
        async with keeping(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            await device.step(0, PROMPT[:10])
            for at in range(10, 55):
                await device.step(at, [PROMPT[at]])
            await device.step(12, [3, 4, 5])
            return await device.restore(12, PROMPT[:60])

    # Fifty-five rows, one of each step, are less than what is published while they come.
    assert asyncio.run(scenario()) == 48


def test_an_edit_within_what_was_taken_in_is_right(family_path: Path) -> None:
    edited = [*PROMPT[:40], 90, 91, 92, *PROMPT[43:80]]

    async def scenario() -> list[int]:
        async with keeping(family_path) as service:
            await (await Device(service, family_path).open()).step(0, PROMPT)
            device = Device(service, family_path)
            assert await device.reopen(PROMPT) == 96
            return await device.greedy(edited, COUNT, start=40)

    assert asyncio.run(scenario()) == oracle.greedy(family_path, edited, COUNT)


def test_a_restore_is_refused_where_the_two_sides_disagree(tiny_path: Path) -> None:
    async def scenario() -> list[str]:
        backbone = tiny_backbone(tiny_path)
        runner = HeldRunner(backbone)
        async with keeping(tiny_path, backbone=backbone, runner=runner) as service:
            device = await Device(service, tiny_path).open()
            runner.gate.release()
            await device.step(0, PROMPT[:40])
            before = device.protocol.restore(20, device.chain(PROMPT))
            device.protocol.receive((await service.handle("local", before)).frame)
            stepping = asyncio.ensure_future(service.handle("local", device.frame(32, [7])))
            await asyncio.to_thread(runner.begun.acquire)
            await asyncio.to_thread(runner.begun.acquire)
            codes = [_code((await service.handle("local", before)).frame)]
            runner.gate.release(10)
            await stepping
            other = device.chain(PROMPT[::-1])
            for start, digest in ((20, other.at(20)), (90, other.at(90))):
                codes.append(_code(await _restored(service, device, start, digest)))
            return codes

    assert asyncio.run(scenario()) == [
        StepConflict.code,
        PrefixMismatch.code,
        StartBeyondCache.code,
    ]


def _code(frame: bytes) -> str:
    message = decode_server_message(frame, 1 << 20)
    assert isinstance(message, Failure), message
    return message.code


async def _restored(service: TinySessions, device: Device, start: int, prefix: bytes) -> bytes:
    opened = device.protocol.opened
    assert opened is not None
    probe = Probe.of(device.chain(PROMPT))
    frame = encode_message(Restore(opened.session, start, prefix, probe))
    return (await service.handle("local", frame)).frame


def test_a_restore_in_a_session_goes_back_to_an_older_branch(family_path: Path) -> None:
    branch = [*PROMPT[:30], *PROMPT[:50]]

    async def scenario() -> tuple[int, list[int]]:
        async with keeping(family_path) as service:
            device = await Device(service, family_path).open()
            await device.step(0, PROMPT)
            await device.step(30, branch[30:])
            held = await device.restore(30, PROMPT[:-1])
            return held, await device.greedy(PROMPT, COUNT, start=held)

    held, ids = asyncio.run(scenario())
    assert held == 96
    assert ids == oracle.greedy(family_path, PROMPT, COUNT)


def test_without_room_everything_is_computed_and_nothing_refused(tiny_path: Path) -> None:
    async def scenario() -> tuple[int, list[int]]:
        async with keeping(tiny_path, reuse=reuse(total=1000)) as service:
            first = await Device(service, tiny_path).open()
            await first.step(0, PROMPT)
            second = Device(service, tiny_path)
            held = await second.reopen(PROMPT)
            return held, await second.greedy(PROMPT, COUNT, start=held)

    held, ids = asyncio.run(scenario())
    assert held == 0
    assert ids == oracle.greedy(tiny_path, PROMPT, COUNT)


def test_a_copy_that_fails_is_computed(tiny_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        raise MemoryError

    async def scenario() -> tuple[int, list[int]]:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path).open()).step(0, PROMPT)
            monkeypatch.setattr("split_server.kv.copying._append", failing)
            second = Device(service, tiny_path)
            held = await second.reopen(PROMPT)
            return held, await second.greedy(PROMPT, COUNT, start=held)

    held, ids = asyncio.run(scenario())
    assert held == 0
    assert ids == oracle.greedy(tiny_path, PROMPT, COUNT)


def test_steps_of_a_client_that_leaves_while_it_restores_are_answered_later(
    tiny_path: Path,
) -> None:
    async def scenario() -> list[int]:
        async with keeping(tiny_path) as service:
            await (await Device(service, tiny_path).open()).step(0, PROMPT)
            device = await Device(service, tiny_path).open()
            asking = device.protocol.restore(0, device.chain(PROMPT))
            task = asyncio.ensure_future(service.handle("local", asking))
            await asyncio.sleep(0)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            device.protocol.receive((await service.handle("local", asking)).frame)
            return await device.greedy(PROMPT, COUNT, start=device.protocol.cached)

    assert asyncio.run(scenario()) == oracle.greedy(tiny_path, PROMPT, COUNT)
