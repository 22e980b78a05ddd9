"""Tasks that run to their end, whether or not anybody waits for them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from split_wire.errors import ShuttingDown

_T = TypeVar("_T")


class LastingTasks:
    """Tasks begun for somebody who may leave; lives on the event loop."""

    def __init__(self) -> None:
        self._begun: set[asyncio.Future[Any]] = set()

    def start(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Run ``work`` to its end."""
        task = asyncio.create_task(work)
        self.track(task)
        return task

    def future(self) -> asyncio.Future[Any]:
        """A future that :meth:`drain` waits for; cancel it when nothing will come of it."""
        return self.track(asyncio.get_running_loop().create_future())

    def track(self, future: asyncio.Future[_T]) -> asyncio.Future[_T]:
        """Have :meth:`drain` wait for ``future`` as well."""
        # Last what cannot be left half done: nobody would end a future that is waited for.
        future.add_done_callback(self._ended)
        self._begun.add(future)
        return future

    async def result(self, future: asyncio.Future[_T]) -> _T:
        """The result of ``future``; it goes on when this waiter is cancelled.

        Raises ShuttingDown when it was given up, and what it raises.
        """
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            waiter = asyncio.current_task()
            if waiter is not None and waiter.cancelling():
                raise
            raise ShuttingDown from None

    async def drain(self) -> None:
        """Wait for everything that was begun, and give it up when this is cancelled."""
        await asyncio.gather(*self._begun, return_exceptions=True)

    def _ended(self, future: asyncio.Future[Any]) -> None:
        self._begun.discard(future)
        if not future.cancelled():
            # Retrieved here, because a waiter whose socket is gone never will.
            future.exception()
