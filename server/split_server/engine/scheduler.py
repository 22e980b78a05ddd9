"""Chooses the rows of steps that the next pass of the model serves.

Steps of a few rows (decode) go first and always together, since a pass over many rows of different
sessions costs hardly more than one row. What the row budget leaves goes to longer steps (prefill),
in slices: the principal that was served the fewest rows goes first (fair queueing by virtual time,
Demers et al. 1989), and within a principal whoever came first.
"""

from __future__ import annotations

from collections import deque
from typing import TypeAlias

from split_server.engine.pending import PendingStep

Plan: TypeAlias = list[tuple[PendingStep, int]]


class Scheduler:
    """``max_sessions``, ``max_rows``: of one pass."""

    def __init__(self, max_sessions: int = 64, max_rows: int = 256) -> None:
        self._max_sessions = max_sessions
        self._max_rows = max_rows
        self._short: deque[PendingStep] = deque()
        self._long: dict[str, deque[PendingStep]] = {}
        # Rows served per principal, of those alone who wait: idleness earns no credit.
        self._served: dict[str, int] = {}

    def __len__(self) -> int:
        """Steps that wait or are half done."""
        return len(self._short) + sum(map(len, self._long.values()))

    @property
    def interactive(self) -> int:
        """Steps of a few rows that wait."""
        return len(self._short)

    def add(self, step: PendingStep) -> None:
        """A step that has arrived."""
        if step.interactive:
            self._short.append(step)
            return
        principal = step.job.principal
        if principal not in self._long:
            self._long[principal] = deque()
            self._served[principal] = min(self._served.values(), default=0)
        self._long[principal].append(step)

    def plan(self, prefill_rows: int) -> Plan:
        """The next pass: steps and how many rows of each, at most one slice per step.

        ``prefill_rows``: how many rows of longer steps it may carry. Short steps leave the
        scheduler; longer ones leave with their last slice. Steps that nobody waits for are
        abandoned on the way.
        """
        self._abandon_unwanted()
        plan = self._short_steps()
        left = min(prefill_rows, self._max_rows - sum(rows for _, rows in plan))
        asked: set[str] = set()
        while left > 0 and (principal := self._next_principal(asked)) is not None:
            for step in list(self._long[principal]):
                rows = min(left, step.remaining)
                self._serve(principal, step, rows)
                plan.append((step, rows))
                left -= rows
                if not left:
                    break
            asked.add(principal)
        return plan

    def withdraw(self, step: PendingStep) -> None:
        """Forget a step that failed."""
        waiting = self._long.get(step.job.principal)
        if waiting is not None and step in waiting:
            waiting.remove(step)
            self._forget_idle(step.job.principal)

    def _abandon_unwanted(self) -> None:
        waiting = [step for steps in self._long.values() for step in steps if not step.wanted]
        for step in waiting:
            self.withdraw(step)
            step.abandon()

    def _short_steps(self) -> Plan:
        plan: Plan = []
        rows = 0
        while self._short and len(plan) < self._max_sessions and rows < self._max_rows:
            step = self._short.popleft()
            if not step.wanted:
                step.abandon()
                continue
            plan.append((step, step.remaining))
            rows += step.remaining
        return plan

    def _next_principal(self, asked: set[str]) -> str | None:
        waiting = [principal for principal in self._long if principal not in asked]
        return min(waiting, key=self._served.__getitem__, default=None)

    def _serve(self, principal: str, step: PendingStep, rows: int) -> None:
        self._served[principal] += rows
        if rows == step.remaining:
            self._long[principal].remove(step)
            self._forget_idle(principal)

    def _forget_idle(self, principal: str) -> None:
        if not self._long[principal]:
            del self._long[principal], self._served[principal]
