"""Threads for work that would hold up the event loop, a few of its own for each room.

The loop's shared executor would let the work of one room keep that of all others waiting, and the
interpreter waits for its threads before it ends. These are daemons: nothing that a request started
keeps the process from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn, TypeVar

from split_wire.errors import Overloaded, ShuttingDown

_T = TypeVar("_T")
_Job = Callable[[], None]
# More than the connections that a server holds at a time.
_MOST_WAITING: Final = 2048


class Threads:
    """At most ``count`` threads called ``name``, started when there is work for them.

    Lives on one event loop; ``waiting``: jobs that may wait for a thread.
    """

    def __init__(self, name: str, count: int, waiting: int = _MOST_WAITING) -> None:
        self._name, self._count = name, count
        self._jobs: queue.Queue[_Job | None] = queue.Queue(waiting)
        self._started = 0
        self._idle = threading.Semaphore(0)
        self._closed = False
        self._busy = set[int]()

    @property
    def at_work(self) -> bool:
        """Whether a job is under way, whose caller may have left."""
        return bool(self._busy)

    @property
    def occupied(self) -> bool:
        """Whether a job is under way or waits."""
        return self.at_work or not self._jobs.empty()

    async def run(self, work: Callable[[], _T]) -> _T:
        """Return or raise what ``work`` does on a thread. A job whose caller left is not begun.

        Raises Overloaded when too many wait, ShuttingDown once closed.
        """
        if self._closed:
            raise ShuttingDown
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()
        context = contextvars.copy_context()

        def job() -> None:
            if answer.cancelled():
                return
            outcome = _outcome(_refused if self._closed else lambda: context.run(work), answer)
            # A loop that is closed has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(outcome)

        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise Overloaded(f"{self._jobs.maxsize} jobs wait for the server's threads") from None
        self._start_one()
        return await answer

    def close(self) -> None:
        """Refuse what waits; threads end after the job at hand. Nothing is waited for."""
        self._closed = True
        with suppress(queue.Empty):
            while (job := self._jobs.get_nowait()) is not None:
                job()
        for _ in range(self._started):
            self._jobs.put_nowait(None)

    def _start_one(self) -> None:
        if self._idle.acquire(blocking=False) or self._started >= self._count:
            return
        name = f"{self._name}-{self._started}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # Where the system gives no thread, those that run will come to it.
            if not self._started:
                raise Overloaded("the system gives the server no thread") from None
        else:
            self._started += 1

    def _work(self) -> None:
        own = threading.get_ident()
        while (job := self._jobs.get()) is not None:
            self._busy.add(own)
            job()
            self._busy.discard(own)
            self._idle.release()


def _refused() -> NoReturn:
    raise ShuttingDown


def _outcome(work: Callable[[], _T], answer: asyncio.Future[_T]) -> _Job:
    """What books the result of ``work`` on the event loop."""
    try:
        result = work()
    # Whatever it is belongs to the one who waits for it.
    except BaseException as error:  # noqa: BLE001
        failure = error
        return lambda: None if answer.done() else answer.set_exception(failure)
    return lambda: None if answer.done() else answer.set_result(result)
