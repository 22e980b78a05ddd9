"""Encoding of tokens with large attention, beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from split_server.compat.kobold.running import Token

_T = TypeVar("_T")
# Base64 of more than this takes a good part of a millisecond.
_LARGE_ROWS = 256 * 1024


async def encoded(encode: Callable[[Token], _T], item: Token) -> _T:
    """``encode(item)``; large rows on a thread."""
    weights = item.event.attention
    if weights is not None and weights.values.nbytes > _LARGE_ROWS:
        return await asyncio.to_thread(encode, item)
    return encode(item)
