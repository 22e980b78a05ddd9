"""The gate every step passes: counted, with cache set aside, and run as a task of its own."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any, TypeVar

from split_server.sessions.store import Session, SessionStore
from split_wire.errors import Overloaded, ShuttingDown

_T = TypeVar("_T")


class StepGate:
    """``max_queued``: steps that one principal may have under way."""

    def __init__(self, store: SessionStore, max_queued: int) -> None:
        self._store = store
        self._max_queued = max_queued
        self._queued: Counter[str] = Counter()
        self._started: set[asyncio.Future[Any]] = set()

    def enter(self, session: Session, positions: int, reply_bytes: int = 0) -> None:
        """Count a step in and set memory aside for ``positions`` cached ones and, when it is large,
        the reply.

        Raises Overloaded or CacheFull, and then nothing has changed.
        """
        if self._queued[session.principal] >= self._max_queued:
            raise Overloaded(f"{self._max_queued} of your steps are under way")
        self._store.reserve(session, positions, reply_bytes)
        self._queued[session.principal] += 1
        session.running += 1

    def leave(self, session: Session) -> None:
        """Count a step out that was counted in."""
        session.running -= 1
        self._queued[session.principal] -= 1
        if self._queued[session.principal] == 0:
            del self._queued[session.principal]
        self._store.settle(session)

    def start(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        """Run ``work`` to its end, whether or not anybody waits for it."""
        task = asyncio.create_task(work)
        self.track(task)
        return task

    def track(self, future: asyncio.Future[_T]) -> asyncio.Future[_T]:
        """Have :meth:`drain` wait for ``future`` as well."""
        self._started.add(future)
        future.add_done_callback(self._ended)
        return future

    async def result(self, future: asyncio.Future[_T]) -> _T:
        """What ``future`` returns; it goes on when this waiter is cancelled.

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
        """Wait for everything that was started, and give it up when this is cancelled."""
        await asyncio.gather(*self._started, return_exceptions=True)

    def _ended(self, future: asyncio.Future[Any]) -> None:
        self._started.discard(future)
        if not future.cancelled():
            # Retrieved here, because a waiter whose socket is gone never will.
            future.exception()
