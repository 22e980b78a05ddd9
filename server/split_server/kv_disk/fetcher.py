"""Has the pool hold what the disk has, for whoever waits for it on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from split_server.kv.run_pool import RunPool
from split_server.kv_disk.counts import Counts
from split_server.kv_disk.index import Index
from split_server.kv_disk.pause import Pause
from split_server.kv_disk.reader import MOST_OPENED, Reader
from split_server.threads import Threads
from split_wire.errors import SplitError

# Seconds that a step waits for one file.
_PATIENCE = 5.0


class Fetcher:
    """``reader`` works on a thread of this; nothing is read while ``pause`` lasts."""

    def __init__(
        self, pool: RunPool, index: Index, reader: Reader, counts: Counts, pause: Pause
    ) -> None:
        self._pool, self._index, self._reader = pool, index, reader
        self._counts, self._pause = counts, pause
        self._threads = Threads("kv-disk-read", 1)

    def close(self) -> None:
        """End its thread; nothing is waited for."""
        self._threads.close()

    async def bring(self, asked: Sequence[tuple[int, bytes]], least: int = 0) -> None:
        """Have the pool hold the longest of ``asked``, positions and names of blocks, the longest
        first, where that is more than ``least`` positions beyond what it holds.
        """
        if not asked or self._pool.knows(asked[0][1]) or not self._pause.over:
            return
        if not self._index.knows(asked[0][1]):
            # Others may have written more of it than is known here.
            await self._timed(partial(self._reader.look, asked))
        for _ in range(MOST_OPENED):
            found = self._best(asked, least) if self._pause.over else None
            if found is None:
                return
            position, block = found
            if await self._read_to(block):
                return
            asked = [one for one in asked if one[0] < position]

    def _best(self, asked: Sequence[tuple[int, bytes]], least: int) -> tuple[int, bytes] | None:
        """What the disk has beyond the pool, None where that is not worth it."""
        best = None
        for position, name in asked:
            if self._pool.knows(name):
                return best if best is not None and best[0] - position > least else None
            if best is None and self._index.knows(name):
                best = (position, name)
        return best

    async def _read_to(self, block: bytes) -> bool:
        chain = self._index.chain(block, self._pool.knows)
        for entry in chain or ():
            # One by one, so that others have their turn between them.
            if not await self._timed(partial(self._reader.read, entry)):
                return False
        return bool(chain)

    async def _timed(self, work: Callable[[], Any]) -> Any:
        try:
            return await asyncio.wait_for(self._threads.run(work), _PATIENCE)
        except TimeoutError:
            self._counts.failed["slow"] += 1
            self._pause.failed(f"a file took longer than {_PATIENCE:g} s")
        # The server stops, or too much waits.
        except SplitError:
            pass
        return None
