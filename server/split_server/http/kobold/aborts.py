"""The Kobold generations that run, so that another request or message can stop them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager
from typing import TypeVar

_T = TypeVar("_T")


class Abortable:
    """One generation; what it made until it is aborted stays good."""

    def __init__(self, principal: str, key: str | None) -> None:
        self.principal = principal
        self.key = key
        self._aborted = False
        self._waiting: asyncio.Task[object] | None = None

    def abort(self) -> None:
        """End :meth:`until` without its next item, also while that is waited for."""
        if self._waiting is not None and not self._aborted:
            self._waiting.cancel()
        self._aborted = True

    async def until(self, items: AsyncIterator[_T]) -> AsyncGenerator[_T, None]:
        """``items`` as long as nobody aborts. An item that was handed out is never interrupted."""
        task = asyncio.current_task()
        while not self._aborted:
            self._waiting = task
            try:
                item = await anext(items)
            except StopAsyncIteration:
                return
            except asyncio.CancelledError:
                if not self._aborted or task is None:
                    raise
                task.uncancel()
                return
            finally:
                self._waiting = None
            yield item


class Aborts:
    """Lives on the event loop."""

    def __init__(self) -> None:
        self._running: set[Abortable] = set()

    @contextmanager
    def entered(self, principal: str, key: str | None) -> Iterator[Abortable]:
        """A generation of ``principal``; ``key``: its own name for it (Kobold's ``genkey``)."""
        running = Abortable(principal, key)
        self._running.add(running)
        try:
            yield running
        finally:
            self._running.discard(running)

    def abort(self, principal: str, key: str | None) -> bool:
        """Stop the generations of ``principal``, only those called ``key`` if it is given.

        False when there is none.
        """
        found = [
            running
            for running in self._running
            if running.principal == principal and key in (None, running.key)
        ]
        for running in found:
            running.abort()
        return bool(found)
