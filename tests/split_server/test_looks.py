"""Slow looks: one at a time, and nobody waits for longer than they say."""

from __future__ import annotations

import asyncio
import threading

import pytest

from split_server.looks import Looks
from tests.patience import PATIENCE


def test_whoever_asks_gets_a_look_that_began_after_they_asked() -> None:
    async def scenario() -> None:
        begun, gate, count = threading.Event(), threading.Event(), [0]

        def look() -> None:
            count[0] += 1
            begun.set()
            assert gate.wait(PATIENCE)

        looks = Looks("looks", look, PATIENCE)
        first = asyncio.ensure_future(looks.another())
        assert await asyncio.to_thread(begun.wait, PATIENCE)
        later = [asyncio.ensure_future(looks.another()) for _ in range(100)]
        await asyncio.sleep(0)
        gate.set()
        assert await first
        assert all(await asyncio.gather(*later))
        # One more for all of them, since the first may have passed what they ask for.
        assert count[0] == 2
        looks.close()

    asyncio.run(scenario())


def test_a_look_that_takes_too_long_is_not_waited_for_and_no_other_begins_beside_it() -> None:
    async def scenario() -> None:
        gate, count = threading.Event(), [0]

        def look() -> None:
            count[0] += 1
            assert gate.wait(PATIENCE)

        looks = Looks("looks", look, 0.01)
        for _ in range(3):
            assert not await looks.another()
        assert count[0] == 1
        gate.set()
        while not await looks.another():
            pass
        looks.close()

    asyncio.run(scenario())


def test_a_look_that_fails_is_none_and_the_next_one_is(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        outcomes = [OSError("gone"), None]

        def look() -> None:
            outcome = outcomes.pop(0)
            if outcome is not None:
                raise outcome

        looks = Looks("looks", look, PATIENCE)
        assert not await looks.another()
        assert await looks.another()
        looks.close()

    asyncio.run(scenario())
    assert "never retrieved" not in caplog.text
