"""A hop that takes time: every byte arrives half a round trip after it was sent."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from scripts.bench.hop import CHUNK, Ends, Hop


class DelayedHop(Hop):
    """``round_trip`` in seconds, which the handshake of a connection takes as well: nothing of a
    new one is carried before it is over.
    """

    def __init__(self, server: str, round_trip: float) -> None:
        super().__init__(server)
        self.round_trip = round_trip

    async def _between(self, ends: Ends) -> None:
        await asyncio.sleep(self.round_trip)
        one_way = self.round_trip / 2
        await asyncio.gather(
            _late(ends.reader, ends.outer, one_way), _late(ends.inner, ends.writer, one_way)
        )


async def _late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Carry bytes one way, each as much later; the order stays."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def arrive() -> None:
        while True:
            due, data = await queue.get()
            await asyncio.sleep(due - loop.time())
            if not data:
                writer.close()
                return
            with suppress(OSError):
                writer.write(data)
                await writer.drain()

    arriving = asyncio.create_task(arrive())
    with suppress(OSError):
        while data := await reader.read(CHUNK):
            queue.put_nowait((loop.time() + seconds, data))
    queue.put_nowait((loop.time() + seconds, b""))
    await arriving
