"""Sends a reply token by token while the next token is computed."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from split_server.compat.kobold.documents import Documents
from split_server.compat.kobold.encoding import encoded
from split_server.compat.kobold.running import Ended, Item, Token

_T = TypeVar("_T")


async def stream_reply(
    items: AsyncIterator[Item],
    documents: Documents,
    encode: Callable[[Token], _T],
    send: Callable[[_T], Awaitable[None]],
    send_event: Callable[[bytes], Awaitable[None]],
) -> None:
    """Every token through ``encode`` and ``send``, then the last events.

    A sample that did not end was cancelled.
    """
    began = time.perf_counter()
    counts = [0] * documents.request.samples
    ends: dict[int, Ended] = {}

    def told(item: Token) -> _T:
        documents.look(item)
        return encode(item)

    async for item in items:
        if isinstance(item, Token):
            counts[item.sample] += 1
            await send(await encoded(told, item))
            continue
        ends[item.sample] = item
        if (event := documents.sample_ended(item)) is not None:
            await send_event(event)
    if (suggested := documents.suggested()) is not None:
        await send_event(suggested)
    seconds = time.perf_counter() - began
    for sample, count in enumerate(counts):
        ends.setdefault(sample, Ended(sample, "cancelled", count, seconds))
    await send_event(documents.ended([ends[sample] for sample in range(len(counts))]))
