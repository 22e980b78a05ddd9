"""Turns: one at a time, in rotation between principals."""

from __future__ import annotations

import asyncio
import random

import pytest

from split_server.compat.turns import Turns
from tests.engines import run
from tests.patience import PATIENCE


async def asked(turns: Turns, principal: str, log: list[str], gate: asyncio.Event) -> None:
    async with turns.turn(principal):
        log.append(principal)
        await gate.wait()


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_principals_take_turns_however_much_one_of_them_asks_for() -> None:
    async def main() -> list[str]:
        turns, log, gate = Turns(), list[str](), asyncio.Event()
        tasks = [asyncio.create_task(asked(turns, "loud", log, gate)) for _ in range(5)]
        await settled()
        for name in ("quiet", "third", "quiet"):
            tasks.append(asyncio.create_task(asked(turns, name, log, gate)))
            await settled()
        gate.set()
        await asyncio.gather(*tasks)
        return log

    assert run(main()) == [
        *("loud", "loud", "quiet", "third", "loud", "quiet", "loud", "loud"),
    ]


def test_who_leaves_while_waiting_or_when_called_keeps_nobody_waiting() -> None:
    async def main() -> list[str]:
        turns, log, gate = Turns(), list[str](), asyncio.Event()
        names = ("first", "leaves", "called", "last")
        tasks = {n: asyncio.create_task(asked(turns, n, log, gate)) for n in names}
        await settled()
        tasks["leaves"].cancel()
        await settled()
        gate.set()
        await tasks["first"]
        # Its turn has come and it has not noticed yet.
        tasks["called"].cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)
        async with asyncio.timeout(PATIENCE), turns.turn("later"):
            return log

    assert [name for name in run(main()) if name != "called"] == ["first", "last"]


@pytest.mark.parametrize("seed", range(20))
def test_never_two_at_a_time_whoever_leaves_when(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret

    async def main() -> None:
        turns, inside = Turns(), 0

        async def one(name: str) -> None:
            nonlocal inside
            async with turns.turn(name):
                inside += 1
                assert inside == 1
                for _ in range(rng.randrange(4)):
                    await asyncio.sleep(0)
                inside -= 1

        async def leaving(name: str) -> None:
            task = asyncio.create_task(one(name))
            for _ in range(rng.randrange(12)):
                await asyncio.sleep(0)
            if rng.random() < 0.4 and not inside:
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        await asyncio.gather(*(leaving(rng.choice("abc")) for _ in range(30)))
        async with asyncio.timeout(PATIENCE), turns.turn("later"):
            assert inside == 0

    run(main())
