"""A TCP hop that does what bad networks do: cuts, slowness, silence, refused upgrades."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from scripts.bench.hop import CHUNK, Ends, Hop, pump

_REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_SLOW_CHUNK, _SLOW_PAUSE = 256, 0.02
_MOST_FORGOTTEN = 12


@dataclass(slots=True)
class Weather:
    """The disturbances of connections; set by the client's thread, read by the hop's.

    ``cut_after``: answer bytes until the connection that carries them is cut, once. ``silent``:
    carries nothing any more, once, without telling either end. ``slow``: answers come in crumbs.
    ``no_upgrades``: a WebSocket's handshake is refused, as some proxies do. ``gone``: there is no
    network, every new connection breaks at once.
    """

    cut_after: int | None = None
    silent: bool = False
    slow: bool = False
    no_upgrades: bool = False
    gone: bool = False


class ChaosHop(Hop):
    """``forgotten``: connections to the server whose device has vanished without a word."""

    def __init__(self, server: str) -> None:
        super().__init__(server)
        self.weather = Weather()
        self.cuts = self.silences = self.refused_upgrades = 0
        self._forgotten: list[asyncio.StreamWriter] = []

    async def close(self) -> None:
        """As :meth:`Hop.close`, the forgotten ones included."""
        await super().close()
        for writer in self._forgotten:
            writer.transport.abort()

    async def _between(self, ends: Ends) -> None:
        if self.weather.gone:
            ends.writer.transport.abort()
            return
        first = await _first_of(ends.reader)
        if self.weather.no_upgrades and b"upgrade: websocket" in first.lower():
            self.refused_upgrades += 1
            ends.writer.write(_REFUSED)
            return
        ends.outer.write(first)
        upwards = asyncio.ensure_future(pump(ends.reader, ends.outer))
        try:
            vanished = await self._answers(ends.inner, ends.writer)
        finally:
            upwards.cancel()
        if vanished:
            await self._forget(ends)

    async def _answers(self, inner: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Carry answers; True when the connection has fallen silent."""
        with suppress(OSError):
            while data := await inner.read(_SLOW_CHUNK if self.weather.slow else CHUNK):
                if self.weather.silent:
                    self.weather.silent = False
                    self.silences += 1
                    return True
                if self._cut(len(data)):
                    writer.write(data[: len(data) // 2])
                    await writer.drain()
                    writer.transport.abort()
                    return False
                writer.write(data)
                await writer.drain()
                if self.weather.slow:
                    await asyncio.sleep(_SLOW_PAUSE)
        return False

    def _cut(self, count: int) -> bool:
        left = self.weather.cut_after
        if left is None:
            return False
        self.weather.cut_after = left - count if left > count else None
        if left > count:
            return False
        self.cuts += 1
        return True

    async def _forget(self, ends: Ends) -> None:
        """Hold both ends open and carry nothing, until the server or the bench ends it."""
        self._open.discard(ends.outer)
        self._forgotten.append(ends.outer)
        if len(self._forgotten) > _MOST_FORGOTTEN:
            self._forgotten.pop(0).transport.abort()
        with suppress(OSError):
            while await ends.inner.read(CHUNK):
                pass
        ends.writer.transport.abort()


async def _first_of(reader: asyncio.StreamReader) -> bytes:
    with suppress(OSError):
        return await reader.read(CHUNK)
    return b""
