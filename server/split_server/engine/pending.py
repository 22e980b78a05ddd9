"""A step on its way through the engine, which may take several passes."""

from __future__ import annotations

from collections.abc import Callable

import torch

from split_server.engine.backend import Runner
from split_server.engine.job import Abandoned, EngineResult, Outcome, StepJob
from split_server.engine.model.convert import to_wire
from split_server.engine.model.packed import Slice
from split_server.engine.model.tap import AttentionResult, AttentionTap
from split_wire.attention import AttentionRows
from split_wire.returned import INTERACTIVE_ROWS


class PendingStep:
    """``done`` takes the outcome, once; ``queued_at`` in seconds of the engine's clock;
    ``interactive_rows``: what a pass takes hardly longer for than for one.
    """

    __slots__ = (
        "_compute",
        "_done",
        "_few",
        "_hidden",
        "_inputs",
        "_reused",
        "_served",
        "_tap",
        "_wanted",
        "job",
        "queued_at",
        "waited_from",
    )

    def __init__(
        self,
        job: StepJob,
        done: Callable[[Outcome], None],
        wanted: Callable[[], bool],
        queued_at: float,
        interactive_rows: int = INTERACTIVE_ROWS,
    ) -> None:
        self.job = job
        self.queued_at = queued_at
        # Positions that were known when it began to wait for another step.
        self.waited_from: int | None = None
        self._done = done
        self._wanted = wanted
        self._few = interactive_rows
        self._inputs: torch.Tensor | None = None
        self._hidden: list[torch.Tensor] = []
        self._served = self._reused = 0
        self._compute = 0.0
        self._tap: AttentionTap | None = None

    @property
    def interactive(self) -> bool:
        """Whether the whole step has only a few rows to compute: a decode token, forced tokens, a
        draft to verify, a short remark. Somebody waits for it, and a pass takes hardly longer.
        """
        return self.job.embeddings.rows - self._reused <= self._few

    @property
    def remaining(self) -> int:
        """Rows that no pass has served."""
        return self.job.embeddings.rows - self._served

    @property
    def reached(self) -> int:
        """Positions that are computed, or were taken in."""
        return self.job.start + self._served

    @property
    def wanted(self) -> bool:
        """Whether somebody still waits for it."""
        return self._wanted()

    def take_in(self) -> None:
        """Have the cache hold what need not be computed; before the step is scheduled."""
        if self.job.shared is not None and self.wanted:
            held = self.job.shared.take_in(self.waited_from)
            self._reused = self._served = held - self.job.start

    def slice(self, rows: int, runner: Runner) -> Slice:
        """The next ``rows`` rows, as a pass takes them."""
        if self._inputs is None:
            self._inputs = runner.load(self.job.embeddings)
        if rows == self.remaining and self.job.attention is not None:
            length = self.job.start + self.job.embeddings.rows
            self._tap = runner.tap(self.job.attention, length)
        own = self._inputs[self._served : self._served + rows]
        return Slice(self.job.cache, self.job.start + self._served, own, self._tap)

    def advance(self, hidden: torch.Tensor, seconds: float) -> None:
        """A pass of ``seconds`` gave the hidden states [n, H] of the next n rows."""
        begun = self._served
        self._served += hidden.shape[0]
        self._compute += seconds
        first = self.job.embeddings.rows - self.job.returned
        if self._served > first:
            self._hidden.append(hidden[max(0, first - begun) :])

    def finish(self, now: Callable[[], float]) -> None:
        """Hand over the hidden states; what adapter or conversion raise is the outcome then."""
        try:
            hidden = self._hidden[0] if len(self._hidden) == 1 else torch.cat(self._hidden)
            if self.job.adapter is not None:
                hidden = self.job.adapter(hidden)
            wire = to_wire(hidden, self.job.dtype)
            attention = None if self._tap is None else _travelling(self._tap.rows())
        # Whatever it is belongs to whoever waits for this step alone.
        except Exception as error:  # noqa: BLE001
            self.fail(error)
            return
        compute = round(1e6 * self._compute)
        waited = round(1e6 * (now() - self.queued_at)) - compute
        result = EngineResult(wire, compute, max(0, waited), attention, self._reused)
        self._done(result)

    def fail(self, error: Exception) -> None:
        """The cache holds what it held before the step, and ``error`` is the outcome."""
        try:
            self.job.cache.truncate(self.job.start)
        finally:
            self._done(error)

    def abandon(self) -> None:
        """Nobody waits for it any more."""
        if self._served:
            self.job.cache.truncate(self.job.start)
        self._done(Abandoned())


def _travelling(rows: AttentionResult) -> AttentionRows:
    positions = None if rows.positions is None else rows.positions.numpy()
    return AttentionRows.of(rows.values.numpy(), positions)
