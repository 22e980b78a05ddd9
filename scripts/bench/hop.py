"""A TCP hop between a client and the server that can break everything that goes through it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urlsplit

CHUNK = 1 << 16


class Ends(NamedTuple):
    """A connection: ``reader`` and ``writer`` of the client's, ``inner`` and ``outer`` of the
    server's.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    inner: asyncio.StreamReader
    outer: asyncio.StreamWriter


class Hop:
    """Listens on a free port of loopback; ``url`` is the server as it is seen through the hop."""

    def __init__(self, server: str) -> None:
        self._target = urlsplit(server)
        self._listening: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.url = ""

    async def open(self) -> None:
        """Begin to listen."""
        self._listening = await asyncio.start_server(self._carry, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Break all connections without a word, as a lost network does."""
        for writer in self._open:
            writer.transport.abort()

    async def close(self) -> None:
        """Listen no more, and break what is left."""
        if self._listening is not None:
            self._listening.close()
        self.cut()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner, outer = await asyncio.open_connection(self._target.hostname, self._target.port)
        except OSError:
            writer.transport.abort()
            return
        writers = {writer, outer}
        self._open |= writers
        try:
            await self._between(Ends(reader, writer, inner, outer))
        finally:
            self._open -= writers
            for end in writers:
                end.close()

    async def _between(self, ends: Ends) -> None:
        """Carry what the client sends, and the answers."""
        await asyncio.gather(pump(ends.reader, ends.outer), pump(ends.inner, ends.writer))


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry bytes one way until either end is gone."""
    with suppress(OSError):
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    writer.close()
