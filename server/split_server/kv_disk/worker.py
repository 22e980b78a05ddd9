"""A thread of its own that does jobs in turn, for callers that do not wait."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from contextlib import suppress

_MOST_WAITING = 4096
_log = logging.getLogger(__name__)


class Worker:
    """Called ``name``, begun with the first job; usable from any thread.

    ``beat``: called after each job, and every ``seconds`` without one. A daemon: a disk that hangs
    does not keep the process from ending.
    """

    def __init__(
        self, name: str, beat: Callable[[], None] = lambda: None, seconds: float | None = None
    ) -> None:
        self._name, self._beat, self._seconds = name, beat, seconds
        self._jobs: queue.Queue[Callable[[], None] | None] = queue.Queue(_MOST_WAITING)
        self._lock = threading.Lock()
        self._begun = self._closed = False

    def post(self, job: Callable[[], None]) -> bool:
        """Have ``job`` done; False where too much waits or the worker is closed."""
        with self._lock:
            if self._closed:
                return False
            if not self._begun:
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
                self._begun = True
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            return False
        return True

    def close(self) -> None:
        """Do what waits, and end; nothing is waited for."""
        with self._lock:
            self._closed = True
        with suppress(queue.Full):
            self._jobs.put_nowait(None)

    def _work(self) -> None:
        while True:
            with suppress(queue.Empty):
                job = self._jobs.get(timeout=self._seconds)
                if job is None:
                    return
                self._do(job)
            self._do(self._beat)

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        # The thread serves the next job; whoever posted this one does not wait.
        except Exception as error:  # noqa: BLE001
            _log.error("%s: %s", self._name, type(error).__name__)
