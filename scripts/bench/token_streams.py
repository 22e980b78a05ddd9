"""Replies as a researcher's client reads them: every token with its attention as an array."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray
from websockets.asyncio.client import connect

BINARY_PATH = "/api/extra/generate/stream/ws"
EVENTS_PATH = "/api/extra/generate/stream"
_DATA = b"data: "
_SILENCE = 120.0


class StreamFailed(Exception):
    """The server ended a reply with an error."""


@dataclass(frozen=True, slots=True)
class Received:
    """``rows`` float32, flat [layers * heads * context]; ``size``: bytes of its messages."""

    token: int
    rows: NDArray[np.float32] | None
    size: int


async def socket_tokens(url: str, request: dict[str, Any]) -> AsyncGenerator[Received, None]:
    """Tokens over the binary socket, a text frame and a frame of raw rows for each.

    Raises StreamFailed.
    """
    address = "ws" + url.removeprefix("http") + BINARY_PATH
    async with connect(
        address, compression=None, max_size=None, proxy=None, ping_interval=None
    ) as socket:
        await socket.send(json.dumps(request))
        async for text in socket:
            told = _told(text)
            if told is None:
                return
            rows, size = None, len(text)
            if request["return_attention"]:
                raw = await socket.recv()
                assert isinstance(raw, bytes)
                rows, size = np.frombuffer(raw, "<f4"), size + len(raw)
            yield Received(told["token_id"], rows, size)


async def event_tokens(url: str, request: dict[str, Any]) -> AsyncGenerator[Received, None]:
    """Tokens over server-sent events, the rows as base64 in JSON. Raises StreamFailed."""
    async with (
        httpx.AsyncClient(trust_env=False, timeout=_SILENCE) as client,
        client.stream("POST", url + EVENTS_PATH, json=request) as answer,
    ):
        if answer.status_code != httpx.codes.OK:
            raise StreamFailed((await answer.aread()).decode())
        async for line in _lines(answer.aiter_raw()):
            if not line.startswith(_DATA):
                continue
            told = _told(line.removeprefix(_DATA))
            if told is None:
                return
            rows = base64.b64decode(told["attention"]["data"])
            yield Received(told["token_id"], np.frombuffer(rows, "<f4"), len(line) + 2)


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines that are not empty; the pieces of a long one are put together once."""
    parts: list[bytes] = []
    async for chunk in chunks:
        first, *others = chunk.split(b"\n")
        parts.append(first)
        for other in others:
            if line := b"".join(parts):
                yield line
            parts = [other]


def _told(text: str | bytes) -> dict[str, Any] | None:
    """A token's fields, None for the end. Raises StreamFailed."""
    told: dict[str, Any] = json.loads(text)
    if told["type"] == "error":
        raise StreamFailed(f"{told['error_code']}: {told['error']}")
    return told if told["type"] == "token" else None
