"""The Kobold generations that run, so that another request or message can stop them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager

from split_server.compat.kobold.running import Item, Token


class Abortable:
    """One generation; what it made until it is aborted stays good. ``text``: of its first sample,
    as far as it was handed out.
    """

    def __init__(self, principal: str, key: str | None) -> None:
        self.principal = principal
        self.key = key
        self._texts: list[str] = []
        self._aborted = False
        self._waiting: asyncio.Task[object] | None = None

    @property
    def text(self) -> str:
        """What the reply has become so far."""
        return "".join(self._texts)

    def abort(self) -> None:
        """End :meth:`until` without its next item, also while that is waited for."""
        if self._waiting is not None and not self._aborted:
            self._waiting.cancel()
        self._aborted = True

    async def until(self, items: AsyncIterator[Item]) -> AsyncGenerator[Item, None]:
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
            if isinstance(item, Token) and item.sample == 0:
                self._texts.append(item.event.text)
            yield item


class Aborts:
    """Lives on the event loop."""

    def __init__(self) -> None:
        # The newest last.
        self._running: dict[Abortable, None] = {}

    @contextmanager
    def entered(self, principal: str, key: str | None) -> Iterator[Abortable]:
        """A generation of ``principal``; ``key``: its own name for it (Kobold's ``genkey``)."""
        running = Abortable(principal, key)
        self._running[running] = None
        try:
            yield running
        finally:
            del self._running[running]

    def abort(self, principal: str, key: str | None) -> bool:
        """Stop the generations of ``principal``, only those called ``key`` if it is given.

        False when there is none.
        """
        found = self._found(principal, key)
        for running in found:
            running.abort()
        return bool(found)

    def text(self, principal: str, key: str | None) -> str:
        """What the newest generation of ``principal`` has made so far, of those called ``key`` if
        it is given; empty when there is none.
        """
        found = self._found(principal, key)
        return found[-1].text if found else ""

    def _found(self, principal: str, key: str | None) -> list[Abortable]:
        return [
            running
            for running in self._running
            if running.principal == principal and key in (None, running.key)
        ]
