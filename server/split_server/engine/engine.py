"""The engine: a bounded queue in front of one model thread.

A session has at most one step in the queue and a step at most 512 rows, so first-come-first-served
makes sessions take turns: a long prefill goes to the back of the queue after every slice.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeAlias

from split_server.engine.info import ModelInfo
from split_server.engine.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_wire.errors import Overloaded, ShuttingDown
from split_wire.messages import Rows
from split_wire.tensor import Tensor, WireDtype


@dataclass(frozen=True, slots=True)
class EngineResult:
    """``hidden`` [n or 1, H]; times in microseconds."""

    hidden: Tensor
    compute_us: int
    queue_us: int


@dataclass(frozen=True, slots=True)
class StepJob:
    """Keep ``start`` positions of ``cache``, append ``embeddings``; hidden states in ``dtype``."""

    cache: KVCache
    start: int
    embeddings: Tensor
    rows: Rows
    dtype: WireDtype


Outcome: TypeAlias = EngineResult | Exception


@dataclass(frozen=True, slots=True)
class _Queued:
    job: StepJob
    queued_at: float
    done: Callable[[Outcome], None]
    wanted: Callable[[], bool]


class Engine:
    """``max_queue``: steps that may wait; one more is refused with ``overloaded``."""

    def __init__(
        self,
        runner: ModelRunner,
        info: ModelInfo,
        max_queue: int = 256,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.info = info
        self._runner = runner
        self._clock = clock
        # SimpleQueue wakes its reader without running Python; the semaphore bounds it.
        self._queue: queue.SimpleQueue[_Queued | None] = queue.SimpleQueue()
        self._max_queue = max_queue
        self._places = threading.BoundedSemaphore(max_queue)
        self._stopping = False
        self._ready: Future[None] = Future()
        self._ended: Future[None] = Future()
        # A daemon, so that a step that was given up cannot keep the process from ending.
        self._thread = threading.Thread(target=self._work, name="model", daemon=True)

    def start(self) -> None:
        """Start the model thread and wait until its first pass went through.

        Raises what that pass raises.
        """
        self._thread.start()
        self._ready.result()

    async def stop(self) -> None:
        """Refuse new steps, finish the queued ones, end the model thread.

        When it is cancelled, the thread goes on with the step at hand.
        """
        self._stopping = True
        if self._thread.is_alive():
            self._queue.put(None)
            await asyncio.shield(asyncio.wrap_future(self._ended))

    def post(
        self,
        job: StepJob,
        done: Callable[[Outcome], None],
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        """Queue one step of at most 512 rows. Raises Overloaded, ShuttingDown.

        ``done`` is called on the model thread; a step that is no longer ``wanted`` when its turn
        comes is not run.
        """
        if self._stopping:
            raise ShuttingDown
        if not self._places.acquire(blocking=False):
            raise Overloaded(f"{self._max_queue} steps are waiting")
        self._queue.put(_Queued(job, self._clock(), done, wanted))

    def submit(self, job: StepJob) -> Future[EngineResult]:
        """:meth:`post` with a future, for whoever may block or wraps it."""
        future: Future[EngineResult] = Future()

        def done(outcome: Outcome) -> None:
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)

        self.post(job, done, future.set_running_or_notify_cancel)
        return future

    def _work(self) -> None:
        try:
            self._runner.warm_up()
        # Whatever is wrong belongs to whoever starts the engine.
        except Exception as error:  # noqa: BLE001
            self._ready.set_exception(error)
            return
        self._ready.set_result(None)
        self._serve()
        self._ended.set_result(None)

    def _serve(self) -> None:
        while (queued := self._queue.get()) is not None:
            self._places.release()
            if queued.wanted():
                queued.done(self._outcome(queued.job, queued.queued_at))

    def _outcome(self, job: StepJob, queued_at: float) -> Outcome:
        begun = self._clock()
        try:
            hidden = self._runner.run(job.cache, job.start, job.embeddings, job.rows, job.dtype)
        # Whatever a step raises belongs to its caller; the thread serves the next session.
        except Exception as error:  # noqa: BLE001
            return error
        ended = self._clock()
        return EngineResult(hidden, round(1e6 * (ended - begun)), round(1e6 * (begun - queued_at)))
