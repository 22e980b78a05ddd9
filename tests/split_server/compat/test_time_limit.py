"""Items as long as they come in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from split_server.compat.time_limit import TimeLimit, within


async def collected(items: AsyncGenerator[int, None]) -> list[int]:
    return [item async for item in items]


def test_what_comes_in_time_comes_whole_with_and_without_a_limit() -> None:
    async def three() -> AsyncGenerator[int, None]:
        for item in range(3):
            yield item

    for seconds in (0.0, 60.0):
        assert asyncio.run(collected(within(three(), seconds))) == [0, 1, 2]


def test_what_does_not_is_ended_and_told() -> None:
    ended = []

    async def stuck() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def scenario() -> int:
        items = within(stuck(), 0.01)
        first = await anext(items)
        with pytest.raises(TimeLimit, match=r"0\.01 s"):
            await anext(items)
        return first

    assert asyncio.run(scenario()) == 1
    assert ended == [True]


def test_a_time_limit_of_the_work_itself_is_not_that_of_the_request() -> None:
    async def late() -> AsyncGenerator[int, None]:
        raise TimeoutError
        yield 1

    with pytest.raises(TimeoutError):
        asyncio.run(collected(within(late(), 60.0)))
