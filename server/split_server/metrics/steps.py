"""Counts of steps and passes, written by the model thread and read by whoever is asked for them.

Every number has one writer, so none needs a lock; a reader may see a step half counted.
"""

from __future__ import annotations

import time

from split_server.engine.job import Abandoned, EngineResult, Outcome, StepJob
from split_server.engine.observer import StepObserver
from split_server.engine.scheduler import Plan
from split_server.metrics.histogram import SECONDS, SESSIONS, Histogram
from split_server.metrics.load import RecentWaits
from split_server.metrics.turns import Turns
from split_wire.attention import AttentionRows
from split_wire.returned import INTERACTIVE_ROWS

_MICROSECOND = 1e-6


class KindMeter:
    """Of steps of one kind. ``rows``: that passes took; ``tokens``: positions that answered
    steps added to a cache.
    """

    __slots__ = ("abandoned", "answered", "compute", "failed", "queue", "rows", "tokens")

    def __init__(self) -> None:
        self.answered = self.failed = self.abandoned = 0
        self.rows = self.tokens = 0
        self.queue = Histogram(SECONDS)
        self.compute = Histogram(SECONDS)


class StepMeter(StepObserver):
    """``decode``: steps of one row, or of up to ``interactive_rows`` that are all answered;
    ``prefill``: all others.
    """

    def __init__(self, interactive_rows: int = INTERACTIVE_ROWS) -> None:
        self.prefill = KindMeter()
        self.decode = KindMeter()
        self.turns = Turns(interactive_rows=interactive_rows)
        self.pass_seconds = Histogram(SECONDS)
        self.pass_sessions = Histogram(SESSIONS)
        self.waits = RecentWaits()
        self.attention_bytes = 0
        # When a step was posted last or ended, by the monotonic clock; None before the first.
        self.used: float | None = None
        self._posted = 0
        self._ended = 0

    @property
    def queued(self) -> int:
        """Steps that wait or are under way."""
        # In this order a step that ends meanwhile cannot make the difference negative.
        ended = self._ended
        return self._posted - ended

    @property
    def rows(self) -> int:
        """Rows that passes took, of either kind."""
        return self.prefill.rows + self.decode.rows

    def posted(self) -> None:
        """A step was queued."""
        self._posted += 1
        self.used = time.monotonic()

    def passed(self, plan: Plan, seconds: float) -> None:
        """A pass served the rows of ``plan``."""
        self.pass_seconds.observe(seconds)
        self.pass_sessions.observe(len(plan))
        for step, rows in plan:
            kind = self._kind(step.job)
            kind.rows += rows

    def ended(self, job: StepJob, queued_at: float, outcome: Outcome) -> None:
        """A step is about to be answered."""
        self._ended += 1
        self.used = time.monotonic()
        rows = job.embeddings.shape[0]
        kind = self._kind(job)
        if not isinstance(outcome, EngineResult):
            self._failed(kind, job, outcome)
            return
        kind.answered += 1
        kind.tokens += rows
        queue, compute = _MICROSECOND * outcome.queue_us, _MICROSECOND * outcome.compute_us
        kind.queue.observe(queue)
        self.waits.observe(queue)
        kind.compute.observe(compute)
        ended = queued_at + queue + compute
        self.turns.answered(job.cache, job.start, rows, queued_at, ended, job.returned)
        if outcome.attention is not None:
            self.attention_bytes += _size(outcome.attention)

    def _kind(self, job: StepJob) -> KindMeter:
        # The shape itself: the property costs as much as all the rest.
        rows = job.embeddings.shape[0]
        decode = rows == 1 or (job.rows != "last" and self.turns.is_decode(rows, job.returned))
        return self.decode if decode else self.prefill

    def _failed(self, kind: KindMeter, job: StepJob, error: Exception) -> None:
        self.turns.failed(job.cache)
        if isinstance(error, Abandoned):
            kind.abandoned += 1
        else:
            kind.failed += 1


def _size(rows: AttentionRows) -> int:
    positions = 0 if rows.positions is None else len(rows.positions.data)
    return len(rows.values.data) + positions
