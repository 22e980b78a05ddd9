"""The time that a request may take, whatever it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import TypeVar

from split_wire.errors import SplitError

_T = TypeVar("_T")


class TimeLimit(SplitError):
    """A request that took longer than the operator allows (seconds)."""

    code = "time_limit"
    status = 504

    def __init__(self, limit: float) -> None:
        super().__init__(
            f"the request took longer than the {limit:g} s that this server gives one; "
            "ask for fewer tokens, or send a shorter prompt"
        )


async def result_within(waiting: Awaitable[_T], seconds: float) -> _T:
    """What ``waiting`` gives within ``seconds``; 0: no limit. Raises TimeLimit."""
    limit = asyncio.timeout(seconds or None)
    try:
        async with limit:
            return await waiting
    except TimeoutError:
        if not limit.expired():
            raise
        raise TimeLimit(seconds) from None


async def within(items: AsyncGenerator[_T, None], seconds: float) -> AsyncGenerator[_T, None]:
    """``items`` as long as they come within ``seconds`` of the first question; 0: no limit.

    Raises TimeLimit, and ends ``items`` then. Nothing else is interrupted: what was handed out is
    sent first.
    """
    async with aclosing(items):
        ends = asyncio.get_running_loop().time() + seconds
        while True:
            limit = asyncio.timeout_at(ends if seconds else None)
            try:
                async with limit:
                    item = await anext(items)
            except StopAsyncIteration:
                return
            except TimeoutError:
                if not limit.expired():
                    raise
                raise TimeLimit(seconds) from None
            yield item
