"""Peers that waste a server's connections: ``python -m scripts.bench.soak.rude``.

Requests: ``live`` (for a while), answered by how often each kind came and how long the server put
up with a connection whose peer said nothing.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from scripts.bench.websocket_frame import websocket_frame
from scripts.bench.workers import serve
from split_wire.codec import encode_message
from split_wire.messages import SUBPROTOCOL, Ping

_HANDSHAKE = (
    "GET /api/v1/split/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
).encode()
_STORY = b'{"prompt": "Once upon a time", "max_length": 200}'
_STREAM = (
    b"POST /api/extra/generate/stream HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(_STORY), _STORY)
)
_WEIGHTS = b"GET /weights/embedding.bin HTTP/1.1\r\nHost: localhost\r\n\r\n"
_PATIENCE = 30.0
_SIPS, _SIP = 100, 256
_UNREAD_PINGS = 2000
_SMALLEST_BUFFER = 4096


class Rude:
    """All peers against ``url``."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self.done: Counter[str] = Counter()
        self.put_up_with = 0.0

    async def live(self, until: float, each: int) -> None:
        """``each`` peers of every kind until the monotonic clock says ``until``."""
        kinds = (self._mute, self._half_a_head, self._half_a_frame, self._sips_weights)
        kinds += (self._sips_a_reply, self._reads_no_pongs)
        async with asyncio.TaskGroup() as group:
            for kind in kinds * each:
                group.create_task(self._again(kind, until))

    async def _again(self, kind: Callable[[], Awaitable[None]], until: float) -> None:
        while time.monotonic() < until:
            # A server that has just been killed.
            with suppress(OSError):
                await kind()
                self.done[kind.__name__.strip("_").replace("_", " ")] += 1
            await asyncio.sleep(1.0)

    async def _mute(self) -> None:
        with await self._connected() as raw:
            await self._outlast(raw)

    async def _half_a_head(self) -> None:
        with await self._connected() as raw:
            await self._loop.sock_sendall(raw, _HANDSHAKE[:100])
            await self._outlast(raw)

    async def _half_a_frame(self) -> None:
        with await self._connected() as raw:
            await self._loop.sock_sendall(raw, _HANDSHAKE)
            await self._loop.sock_recv(raw, 4096)
            await self._loop.sock_sendall(raw, websocket_frame(b"x" * 100)[:50])
            await asyncio.sleep(_PATIENCE)

    async def _sips_weights(self) -> None:
        await self._sips(_WEIGHTS)

    async def _sips_a_reply(self) -> None:
        await self._sips(_STREAM)

    async def _sips(self, request: bytes) -> None:
        with await self._connected() as raw:
            await self._loop.sock_sendall(raw, request)
            for _ in range(_SIPS):
                if not await self._loop.sock_recv(raw, _SIP):
                    return
                await asyncio.sleep(_PATIENCE / _SIPS)

    async def _reads_no_pongs(self) -> None:
        ping = websocket_frame(encode_message(Ping()))
        with await self._connected() as raw:
            await self._loop.sock_sendall(raw, _HANDSHAKE)
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    for _ in range(_UNREAD_PINGS):
                        await self._loop.sock_sendall(raw, ping)
                    await asyncio.sleep(_PATIENCE)

    async def _outlast(self, raw: socket.socket) -> None:
        """Wait until the server ends the connection."""
        began = time.monotonic()
        with suppress(OSError):
            while await self._loop.sock_recv(raw, 4096):
                pass
        self.put_up_with = max(self.put_up_with, time.monotonic() - began)

    async def _connected(self) -> socket.socket:
        raw = socket.socket()
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALLEST_BUFFER)
        raw.setblocking(False)
        try:
            await self._loop.sock_connect(raw, (self._address.hostname, self._address.port))
        except BaseException:
            raw.close()
            raise
        return raw

    @property
    def _loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Live for ``seconds``."""
    rude = Rude(request["url"])
    asyncio.run(rude.live(time.monotonic() + request["seconds"], request["each"]))
    return {"done": rude.done, "put_up_with": rude.put_up_with}


if __name__ == "__main__":
    serve(handle)
