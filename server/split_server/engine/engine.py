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
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class _Job:
    cache: KVCache
    start: int
    embeddings: Tensor
    rows: Rows
    dtype: WireDtype
    queued_at: float
    future: Future[EngineResult] = field(default_factory=Future)


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
        self._queue: queue.Queue[_Job | None] = queue.Queue(max_queue)
        self._stopping = False
        self._thread = threading.Thread(target=self._work, name="model", daemon=True)

    def start(self) -> None:
        """Start the model thread."""
        self._thread.start()

    async def stop(self) -> None:
        """Refuse new steps, finish the queued ones, end the model thread."""
        self._stopping = True
        if self._thread.is_alive():
            await asyncio.to_thread(self._queue.put, None)
            await asyncio.to_thread(self._thread.join)

    def submit(
        self, cache: KVCache, start: int, embeddings: Tensor, rows: Rows, dtype: WireDtype
    ) -> Future[EngineResult]:
        """Queue one step of at most 512 rows. Raises Overloaded, ShuttingDown."""
        if self._stopping:
            raise ShuttingDown
        job = _Job(cache, start, embeddings, rows, dtype, self._clock())
        try:
            self._queue.put_nowait(job)
        except queue.Full:
            raise Overloaded(f"{self._queue.maxsize} steps are waiting") from None
        return job.future

    async def step(
        self, cache: KVCache, start: int, embeddings: Tensor, rows: Rows, dtype: WireDtype
    ) -> EngineResult:
        """``submit`` for the event loop, which it never blocks."""
        return await asyncio.wrap_future(self.submit(cache, start, embeddings, rows, dtype))

    def _work(self) -> None:
        self._runner.warm_up()
        while (job := self._queue.get()) is not None:
            # A future whose waiter is gone is cancelled; its step is not run.
            if job.future.set_running_or_notify_cancel():
                self._run(job)

    def _run(self, job: _Job) -> None:
        begun = self._clock()
        try:
            hidden = self._runner.run(job.cache, job.start, job.embeddings, job.rows, job.dtype)
        # Whatever a step raises belongs to its caller; the thread serves the next session.
        except Exception as error:  # noqa: BLE001
            job.future.set_exception(error)
            return
        ended = self._clock()
        compute, waited = round(1e6 * (ended - begun)), round(1e6 * (begun - job.queued_at))
        job.future.set_result(EngineResult(hidden, compute, waited))
