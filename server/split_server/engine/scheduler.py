"""Chooses the rows of steps that the next pass of the model serves.

Steps of a few rows (decode) go first, since a pass over a few rows of different sessions costs
hardly more than one row. What the row budget leaves goes to longer steps (prefill), in slices. Of
either kind the principal that was served the fewest rows goes first, rows of both kinds counted,
and within a principal whoever came first. Where others wait, a principal's short steps have a
quarter of a pass, and another quarter is kept for prefill.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from split_server.engine.pending import PendingStep
from split_server.engine.shares import Shares
from split_wire.returned import INTERACTIVE_ROWS

Plan: TypeAlias = list[tuple[PendingStep, int]]
# Of the rows of a pass: what a principal's short steps may take where others wait, and what is
# left to longer steps. Decoding of one row each, of as many sessions as a pass has, fits into it.
_SHARES_OF_A_PASS = 4
# Where slices of a prefill end at multiples of it, rows in bfloat16 have the same bits whatever the
# slices were; with shorter ones some differ (probed on one processor).
_WHOLE = 128


class Scheduler:
    """``max_sessions``, ``max_rows``: of one pass."""

    def __init__(self, max_sessions: int = 64, max_rows: int = 256) -> None:
        self._max_sessions = max_sessions
        self._max_rows = max_rows
        self._share = max(INTERACTIVE_ROWS, max_rows // _SHARES_OF_A_PASS)
        # Those with a step that waits alone.
        self._short: dict[str, deque[PendingStep]] = {}
        self._long: dict[str, deque[PendingStep]] = {}
        self._shares = Shares()
        self._interactive = self._interactive_rows = 0

    def __len__(self) -> int:
        """Steps that wait or are half done."""
        return self._interactive + sum(map(len, self._long.values()))

    @property
    def interactive(self) -> int:
        """Steps of a few rows that wait."""
        return self._interactive

    @property
    def interactive_rows(self) -> int:
        """Rows of those that the next pass has place for."""
        return min(self._interactive_rows, self._max_rows)

    def add(self, step: PendingStep) -> None:
        """A step that has arrived."""
        principal = step.job.principal
        kind = self._long
        if step.interactive:
            kind = self._short
            self._interactive += 1
            self._interactive_rows += step.remaining
        kind.setdefault(principal, deque()).append(step)
        self._shares.arrived(principal)

    def plan(self, prefill_rows: Callable[[int], int]) -> Plan:
        """The next pass: steps and how many rows of each, at most one slice per step.

        ``prefill_rows``: how many rows of longer steps it may carry beside so many of short ones.
        Short steps leave the scheduler; longer ones leave with their last slice. Steps that nobody
        waits for are abandoned on the way.
        """
        self._shares.advance()
        self._abandon_unwanted()
        plan = self._short_steps()
        taken = sum(rows for _, rows in plan)
        left = min(prefill_rows(taken), self._max_rows - taken)
        for principal in self._shares.ordered(self._long):
            if left <= 0:
                break
            left -= self._slices(plan, principal, left)
        return plan

    def withdraw(self, step: PendingStep) -> None:
        """Forget a step that failed."""
        waiting = self._long.get(step.job.principal)
        if waiting is not None and step in waiting:
            waiting.remove(step)
            self._forget_idle(self._long, step.job.principal)

    def _abandon_unwanted(self) -> None:
        waiting = [step for steps in self._long.values() for step in steps if not step.wanted]
        for step in waiting:
            self.withdraw(step)
            step.abandon()

    def _short_steps(self) -> Plan:
        plan: Plan = []
        # Of equally served ones a single token goes before a crowd.
        fewest = sorted(self._short, key=lambda principal: len(self._short[principal]))
        principals = self._shares.ordered(fewest)
        alone = len(principals) == 1 and not self._long
        most = self._max_rows if alone else self._share
        rows = self._max_rows - (self._share if self._long else 0)
        for principal in principals:
            rows -= self._few(plan, principal, min(most, rows))
        return plan

    def _few(self, plan: Plan, principal: str, most: int) -> int:
        """Put short steps of ``principal`` into ``plan``, at most so many rows; how many."""
        waiting, taken = self._short[principal], 0
        while waiting and len(plan) < self._max_sessions:
            rows = waiting[0].remaining
            if taken + rows > most:
                break
            step = waiting.popleft()
            self._interactive -= 1
            self._interactive_rows -= rows
            if not step.wanted:
                step.abandon()
                continue
            plan.append((step, rows))
            taken += rows
        self._shares.serve(principal, taken)
        self._forget_idle(self._short, principal)
        return taken

    def _slices(self, plan: Plan, principal: str, most: int) -> int:
        """Put slices of longer steps of ``principal`` into ``plan``; how many rows."""
        waiting, left = self._long[principal], most
        for step in list(waiting):
            rows = _slice_rows(step, left)
            plan.append((step, rows))
            left -= rows
            if rows == step.remaining:
                waiting.remove(step)
            if not left:
                break
        self._shares.serve(principal, most - left)
        self._forget_idle(self._long, principal)
        return most - left

    def _forget_idle(self, kind: dict[str, deque[PendingStep]], principal: str) -> None:
        if not kind[principal]:
            del kind[principal]
        if principal not in self._short and principal not in self._long:
            self._shares.left(principal)


def _slice_rows(step: PendingStep, most: int) -> int:
    """At most ``most`` rows of ``step``, to a multiple of 128 positions where that many fit, unless
    it takes one more pass for a few rows.
    """
    rows = min(most, step.remaining)
    beyond = (step.reached + rows) % _WHOLE
    if rows == step.remaining or rows < _WHOLE:
        return rows
    last = (step.remaining - rows + beyond) % rows
    return rows if 0 < last <= INTERACTIVE_ROWS else rows - beyond
