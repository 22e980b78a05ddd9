"""Worker: the one thread that a client's blocking calls run on, for whoever awaits them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_Job = tuple[Future[Any], Callable[[], Any]]


class Worker:
    """Does jobs one after the other; each caller has at most one.

    ``fresh`` comes before every job; ``interrupt`` ends the wait of the one that runs and is called
    where its caller no longer awaits it.
    """

    def __init__(self, fresh: Callable[[], None], interrupt: Callable[[], None]) -> None:
        self._fresh, self._interrupt = fresh, interrupt
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._guard = threading.Lock()
        self._current: Future[Any] | None = None
        self._thread: threading.Thread | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """Return or raise what ``work`` does on the thread."""
        job: Future[T] = Future()
        self._jobs.put((job, work))
        self._start()
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            self.interrupt(job)
            raise

    def interrupt(self, job: Future[Any] | None = None) -> None:
        """End the wait of ``job`` if it is the one that runs; None: of whichever runs."""
        with self._guard:
            if self._current is not None and job in (None, self._current):
                self._interrupt()

    def close(self) -> None:
        """The thread ends after the jobs that wait; a later job starts another."""
        if self._thread is not None:
            self._jobs.put(None)
        self._thread = None

    def _start(self) -> None:
        if self._thread is None:
            # A daemon: a server that does not answer must not keep the program from ending.
            self._thread = threading.Thread(target=self._work, name="split-client", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, work = job
            if not future.set_running_or_notify_cancel():
                continue
            with self._guard:
                self._fresh()
                self._current = future
            self._do(future, work)

    def _do(self, future: Future[Any], work: Callable[[], Any]) -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - whoever awaits it decides
            self._leave()
            future.set_exception(error)
        else:
            self._leave()
            future.set_result(result)

    def _leave(self) -> None:
        with self._guard:
            self._current = None
