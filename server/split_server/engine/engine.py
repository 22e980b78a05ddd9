"""The engine: a bounded queue in front of one model thread that packs whatever is ready."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

from split_server.engine.backend import Runner
from split_server.engine.budget import PASS_ROWS
from split_server.engine.device_turns import DeviceTurns, Seat
from split_server.engine.errand import Errand
from split_server.engine.giving_way import giving_way
from split_server.engine.job import Outcome, StepJob
from split_server.engine.model.info import ModelInfo
from split_server.engine.observer import StepObserver
from split_server.engine.pending import PendingStep
from split_server.engine.rounds import Rounds
from split_server.engine.vitals import Vitals, all_undone
from split_server.kv.session_cache import SessionCache
from split_wire.errors import ModelStopped, Overloaded, ShuttingDown

_SHORTEST_RETRY, _LONGEST_RETRY = 0.1, 60.0


class Engine:
    """``max_queue``: steps that may wait or be under way; one more is refused with
    ``overloaded``. ``stretch``: see :class:`RowBudget`; ``pass_rows``: of one pass at most.
    ``observer`` is told what is done; it is
    set before the engine starts. ``turns``: of the device, with the engines of other models.
    """

    def __init__(
        self,
        runner: Runner,
        info: ModelInfo,
        max_queue: int = 256,
        clock: Callable[[], float] = time.perf_counter,
        stretch: float = 1.9,
        pass_rows: int = PASS_ROWS,
        turns: DeviceTurns | None = None,
    ) -> None:
        self.info = info
        self.observer = StepObserver()
        self.vitals = Vitals()
        self._runner = runner
        self._clock = clock
        # SimpleQueue wakes its reader without running Python; the semaphore bounds it.
        self._queue: queue.SimpleQueue[PendingStep | Errand | None] = queue.SimpleQueue()
        self._max_queue = max_queue
        self._places = threading.BoundedSemaphore(max_queue)
        # Those that the thread has taken and not answered.
        self._taken: set[PendingStep] = set()
        self._rounds = Rounds(runner, clock, stretch, pass_rows, flat=info.streamed > 0)
        self._turns = DeviceTurns() if turns is None else turns
        self._seat: Seat
        self._relief = Errand(lambda _: self._seat.relieve(), lambda _: self._seat.relieve())
        self._stopping = False
        self._closed = False
        self._ready: Future[None] = Future()
        self._ended: Future[None] = Future()
        # A daemon, so that a step that was given up cannot keep the process from ending.
        self._thread = threading.Thread(target=self._work, name="model", daemon=True)

    def alone(self, cache: SessionCache | None) -> bool:
        """Whether nobody waits or decodes but the session of ``cache``, which has no step under
        way. Any thread may ask.
        """
        if self._taken or not self._queue.empty():
            return False
        return not self._rounds.beside(cache)

    def pass_seconds(self, rows: int) -> float:
        """What a pass with ``rows`` rows of short steps takes, as measured; 0 while none was. Any
        thread may ask.
        """
        return self._rounds.decode_seconds(rows)

    def start(self) -> None:
        """Start the model thread and wait until its first pass went through.

        Raises what that pass raises.
        """
        self._seat = self._turns.seat(lambda: self._queue.put(self._relief))
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
        """Queue one step. Raises Overloaded, ShuttingDown, ModelStopped.

        ``done`` is called on the model thread, once, with :class:`Abandoned` for a step that is no
        longer ``wanted`` when one of its turns comes.
        """
        if self._stopping:
            raise ShuttingDown
        if self.vitals.stopped:
            raise ModelStopped
        queued_at = self._clock()

        def finished(outcome: Outcome) -> None:
            self._taken.discard(step)
            self._places.release()
            try:
                self.observer.ended(job, queued_at, outcome)
            finally:
                self._tell(step, done, outcome)

        step = PendingStep(job, finished, wanted, queued_at, self.info.interactive_rows)
        if not self._places.acquire(blocking=False):
            raise Overloaded(f"{self._max_queue} steps are waiting", self._retry_after())
        try:
            self.observer.posted()
            self._queue.put(step)
        except BaseException:
            self._places.release()
            raise

    def send(self, errand: Errand) -> None:
        """Queue an errand of a session that waits for it. Raises ShuttingDown, ModelStopped."""
        if self._stopping:
            raise ShuttingDown
        if self.vitals.stopped:
            raise ModelStopped
        self._queue.put(errand)

    def _tell(self, step: PendingStep, done: Callable[[Outcome], None], outcome: Outcome) -> None:
        """Tell the outcome, which keeps what was computed, then those who waited for that."""
        failed = True
        try:
            done(outcome)
            failed = isinstance(outcome, Exception)
        finally:
            self._rounds.left(step, failed=failed)

    def _retry_after(self) -> float:
        """Seconds until about half of the queue is served."""
        wait = self._max_queue / 2 * self._rounds.seconds_per_step
        return round(min(_LONGEST_RETRY, max(_SHORTEST_RETRY, wait)), 1)

    def _work(self) -> None:
        try:
            started = self._started()
            while started and not self._served():
                continue
        finally:
            self._seat.leave()
            self._ended.set_result(None)

    def _started(self) -> bool:
        try:
            self._warm_up()
        # Whatever is wrong belongs to whoever starts the engine.
        except Exception as error:  # noqa: BLE001
            self._ready.set_exception(error)
            return False
        self._ready.set_result(None)
        return True

    def _warm_up(self) -> None:
        """Beside other models, whose steps such a pass would delay by more than its seconds: it is
        the first of the thread.
        """
        with giving_way(self._turns):
            self._runner.warm_up()
        if not self._turns.alone:
            self._turns.release()

    def _served(self) -> bool:
        """Serve until the engine is stopped, or refuse all steps until then once the model has
        stopped; False when there is more to serve after a fault.
        """
        try:
            while self._gather():
                if self._rounds:
                    self._iterate()
        # What escapes would end the thread, and steps would wait for ever.
        except BaseException as error:  # noqa: BLE001
            self.vitals.fault(error)
            if self.vitals.judge(sound=self._undone() and self._passes()):
                return False
            self._refuse()
        return True

    def _iterate(self) -> None:
        """One pass, in the model's turn."""
        with self._seat.turn(self._rounds.expected):
            # Those who came while another model computed.
            self._drain()
            self._rounds.iterate(self.observer)

    def _undone(self) -> bool:
        """Fail every step that was taken; whether all caches are as before those steps."""
        self._rounds.begin_anew()
        return all_undone(list(self._taken))

    def _passes(self) -> bool:
        """Whether a pass goes through."""
        try:
            with self._seat.turn():
                self._runner.warm_up()
        # Whatever it is, the model does not work.
        except BaseException:  # noqa: BLE001
            return False
        return True

    def _refuse(self) -> None:
        """Fail what is queued until the engine is stopped."""
        while not self._closed:
            self._take(self._queue.get())
            self._undone()

    def _gather(self) -> bool:
        """Take in what has arrived, waiting when there is nothing to do; False at the end."""
        self._rounds.readmit()
        if not self._rounds and not self._closed:
            self._take(self._queue.get())
        self._drain()
        while not self._closed and (wait := self._rounds.hold()) > 0:
            try:
                self._take(self._queue.get(timeout=wait))
            except queue.Empty:
                break
            self._drain()
        return bool(self._rounds) or not self._closed

    def _drain(self) -> None:
        while not self._queue.empty():
            self._take(self._queue.get_nowait())

    def _take(self, step: PendingStep | Errand | None) -> None:
        if step is None:
            self._closed = True
            return
        if isinstance(step, Errand):
            self._run(step)
            return
        self._taken.add(step)
        self._rounds.admit(step)

    def _run(self, errand: Errand) -> None:
        if errand is self._relief:
            self._seat.relieve()
        elif self.vitals.stopped:
            errand.refuse(ModelStopped())
        else:
            with self._seat.turn(self._rounds.expected):
                errand.work(self._rounds.longer_rows())
