"""Rounds of the model thread: which steps take part in the next pass, and what it brings them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from split_server.engine.backend import Runner
from split_server.engine.budget import RowBudget
from split_server.engine.leaders import Leaders
from split_server.engine.model.packed import Slice
from split_server.engine.observer import StepObserver
from split_server.engine.pace import Paces
from split_server.engine.pending import PendingStep
from split_server.engine.scheduler import Plan, Scheduler
from split_server.kv.session_cache import SessionCache

# A device may keep a pass waiting for this share of the pass that it then takes part in; for all
# of it where it would have to wait for the next one, which takes as long whoever takes part.
_PATIENCE, _FLAT_PATIENCE = 0.5, 1.0
# Until steps that are here already ask for their next pass.
_AT_ONCE = 0.001
# Whoever was served so lately is likely to come back with the next token.
_BESIDE_SECONDS = 0.5


class Rounds:
    """``pass_rows``: of one pass at most; ``stretch``: see :class:`RowBudget`; ``flat``: a pass
    takes about as long for many rows as for one. On the model thread, but for what any thread may
    ask.
    """

    def __init__(
        self,
        runner: Runner,
        clock: Callable[[], float],
        stretch: float,
        pass_rows: int,
        *,
        flat: bool = False,
    ) -> None:
        self._runner = runner
        self._clock = clock
        self._pass_rows = pass_rows
        self._budget = RowBudget(stretch, pass_rows, flat=flat)
        self._patience = _FLAT_PATIENCE if flat else _PATIENCE
        self.seconds_per_step = 0.0
        self.begin_anew()

    def begin_anew(self) -> None:
        """Know no steps any more; what passes take stays known."""
        self._scheduler, self._paces = Scheduler(max_rows=self._pass_rows), Paces()
        self._leaders = Leaders()

    def __bool__(self) -> bool:
        """Whether steps are ready."""
        return bool(self._scheduler)

    def beside(self, cache: SessionCache | None) -> bool:
        """Whether sessions but that of ``cache`` decode. Any thread may ask."""
        return self._paces.beside(cache, self._clock(), _BESIDE_SECONDS)

    def decode_seconds(self, rows: int) -> float:
        """What a pass with ``rows`` rows of short steps takes, as measured; 0 while none was. Any
        thread may ask.
        """
        return self._budget.decode_seconds(rows)

    def left(self, step: PendingStep, *, failed: bool) -> None:
        """``step`` is answered; those who waited for what it computes are looked at."""
        self._leaders.left(step, failed=failed)

    def readmit(self) -> None:
        """Have those go on who need not wait for another step any more."""
        for step in self._leaders.unwanted():
            step.abandon()
        for step in self._leaders.due():
            self.admit(step)

    def admit(self, step: PendingStep) -> None:
        """Have ``step`` take part, unless it has to wait for another one."""
        if self._leaders.holds_back(step):
            return
        step.take_in()
        if step.interactive:
            self._paces.arrived(step.job.cache, step.queued_at)
        self._scheduler.add(step)

    def hold(self) -> float:
        """Seconds to wait for devices that are about to send their next token."""
        now = self._clock()
        pass_seconds = self._budget.decode_seconds(max(1, self._scheduler.interactive_rows))
        if len(self._scheduler) > self._scheduler.interactive:
            pass_seconds *= self._budget.stretch
        until = self._paces.hold_until(now, self._patience * pass_seconds)
        return 0.0 if until is None else until - now

    def expected(self) -> float:
        """Seconds within which there is likely another pass to run; 0: nobody is expected."""
        return self.hold() or (_AT_ONCE if self else 0.0)

    def longer_rows(self) -> int:
        """Rows of longer work that may come before the next pass."""
        return self._prefill_rows(self._scheduler.interactive_rows)

    def _prefill_rows(self, decoding: int) -> int:
        """Rows of longer steps in a pass beside so many of short ones."""
        if decoding or self._paces.decoding(self._clock()):
            return self._budget.rows_beside(decoding, self._paces.mean)
        return self._budget.rows_alone()

    def iterate(self, observer: StepObserver) -> None:
        """One pass over the rows that are picked, of which ``observer`` is told."""
        plan = self._scheduler.plan(self._prefill_rows)
        if not plan:
            return
        begun = self._clock()
        plan, slices = self._slices(plan)
        if not plan:
            return
        hidden = self._run(slices)
        ended = self._clock()
        observer.passed(plan, ended - begun)
        finished = 0
        for (step, _), states in zip(plan, hidden, strict=True):
            if isinstance(states, Exception):
                self._scheduler.withdraw(step)
                step.fail(states)
                continue
            step.advance(states, ended - begun)
            if step.remaining:
                self._leaders.advanced(step)
            else:
                finished += 1
                self._finish(step)
        if not any(isinstance(states, Exception) for states in hidden):
            self._learn(plan, ended - begun, finished)

    def _slices(self, plan: Plan) -> tuple[Plan, list[Slice]]:
        """The slices of the pass, without the steps whose rows cannot be brought in."""
        ready: Plan = []
        slices = []
        for step, rows in plan:
            try:
                slices.append(step.slice(rows, self._runner))
            # Whatever it is belongs to this step alone; the thread serves the others.
            except Exception as error:  # noqa: BLE001
                self._scheduler.withdraw(step)
                step.fail(error)
                continue
            ready.append((step, rows))
        return ready, slices

    def _finish(self, step: PendingStep) -> None:
        if step.interactive:
            self._paces.served(step.job.cache, self._clock())
        step.finish(self._clock)

    def _run(self, slices: list[Slice]) -> Sequence[torch.Tensor | Exception]:
        """All slices in one pass; when it fails, each alone, so that only the guilty one fails."""
        try:
            return self._runner.run(slices)
        # Whatever a pass raises belongs to its callers; the thread serves the next ones.
        except Exception as error:  # noqa: BLE001
            if len(slices) == 1:
                return [error]
            return [outcome for part in slices for outcome in self._run([part])]

    def _learn(self, plan: Plan, seconds: float, finished: int) -> None:
        decoding = sum(rows for step, rows in plan if step.interactive)
        prefill = sum(rows for step, rows in plan if not step.interactive)
        self._budget.record(decoding, prefill, seconds)
        if finished:
            self.seconds_per_step += 0.1 * (seconds / finished - self.seconds_per_step)
