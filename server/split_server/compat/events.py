"""Events from the thread that makes them to the coroutine that sends them.

While one event is sent the next token is computed already. A reader that falls behind is waited
for, up to a limit; nobody else waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Generic, TypeVar

from split_client.errors import Cancelled
from split_wire.errors import SplitError

_T = TypeVar("_T")


class SlowReader(SplitError):
    """A reader that did not take an event for a long time (seconds)."""

    code = "slow_reader"
    status = 408

    def __init__(self, limit: float) -> None:
        super().__init__(f"nothing was read for {limit:g} s, so the generation was ended")


class EventChannel(Generic[_T]):
    """One writing thread, one reading coroutine on ``loop``, at most ``size`` events in between.

    ``patience``: seconds for which the writer waits for its reader.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        size: int,
        cancelled: threading.Event,
        patience: float,
    ) -> None:
        self._loop = loop
        self._events: asyncio.Queue[_T | Exception | None] = asyncio.Queue()
        self._places = threading.Semaphore(size)
        self._patience = patience
        self._cancelled = cancelled

    def put(self, event: _T) -> None:
        """Hand over one event. Raises SlowReader, and Cancelled when nobody reads any more."""
        if not self._places.acquire(timeout=self._patience):
            raise SlowReader(self._patience)
        if self._cancelled.is_set():
            raise Cancelled
        self._post(event)

    def end(self, error: Exception | None = None) -> None:
        """No event follows; ``error`` is raised at the reader's."""
        self._post(error)

    def cancel(self) -> None:
        """Nobody reads any more."""
        self._cancelled.set()
        self._places.release()

    async def read(self) -> AsyncIterator[_T]:
        """Every event; asking for the next one says that the one before is dealt with."""
        while (event := await self._events.get()) is not None:
            if isinstance(event, Exception):
                raise event
            yield event
            self._places.release()

    def _post(self, item: _T | Exception | None) -> None:
        # A loop that is closed has no readers left.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._events.put_nowait, item)
