"""Steps that need what another one is computing wait for it, and take it in.

A step leads by being here: nobody waits for requests that may never come. A step waits only for
one that came before it, so no two ever wait for each other, and it is no step of the scheduler
meanwhile, so it keeps nobody from the model. When its leader fails or is given up, it is looked at
again, and the first of those who waited leads.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from split_server.engine.job import SharedRows
from split_server.engine.pending import PendingStep

# Fewer rows are computed about as soon as they could be taken in.
LEAST_SAVED = 64


@dataclass(frozen=True, slots=True)
class _Wait:
    """For the positions up to ``end``, which ``leader`` computes."""

    leader: PendingStep
    end: int


class Leaders:
    """Lives on the model thread. Holds at most the steps of the queue."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        # Rows and number, which is higher the later a step came.
        self._steps: dict[PendingStep, tuple[SharedRows, int]] = {}
        # Whoever computes the block of that name, in the order of their coming.
        self._computing: dict[bytes, list[PendingStep]] = {}
        self._waiting: dict[PendingStep, _Wait] = {}
        self._due: list[PendingStep] = []
        # Those for whom a leader's rows were not kept; to wait again would help them no more.
        self._alone: set[PendingStep] = set()

    def __len__(self) -> int:
        """Steps that wait."""
        return len(self._waiting)

    def holds_back(self, step: PendingStep) -> bool:
        """Whether ``step``, which has arrived or was :meth:`due`, waits for another one."""
        rows = step.job.shared
        if rows is None or step.job.embeddings.rows < LEAST_SAVED:
            return False
        if step not in self._steps:
            self._lead(step, rows)
        wait = None if step in self._alone or not rows.finds else self._longest(step)
        if wait is None or wait.end - (known := rows.known()) < LEAST_SAVED:
            return False
        step.waited_from = known if step.waited_from is None else step.waited_from
        self._waiting[step] = wait
        return True

    def advanced(self, step: PendingStep) -> None:
        """A pass has served rows of ``step``, but not all: whoever needs no more of it is due."""
        reached = step.reached
        due = {one: wait.end for one, wait in self._followers(step).items() if wait.end <= reached}
        if due:
            rows, _ = self._steps[step]
            end = max(due.values())
            rows.give(end)
            self._forget(step, rows, end)
            self._release(due)

    def left(self, step: PendingStep, *, failed: bool) -> None:
        """``step`` has ended, and what it computed is kept unless it ``failed``."""
        self._waiting.pop(step, None)
        self._alone.discard(step)
        known = self._steps.pop(step, None)
        if known is None:
            return
        self._forget(step, known[0])
        followers = self._followers(step)
        if failed:
            for one in followers:
                del self._waiting[one]
            self._due += followers
        else:
            self._release({one: wait.end for one, wait in followers.items()})

    def due(self) -> list[PendingStep]:
        """Those who need not wait any more, in the order of their coming; told once."""
        due, self._due = self._due, []
        return sorted((one for one in due if one in self._steps), key=self._number)

    def unwanted(self) -> list[PendingStep]:
        """Those who wait while nobody waits for them any more."""
        return [step for step in self._waiting if not step.wanted]

    def _lead(self, step: PendingStep, rows: SharedRows) -> None:
        self._steps[step] = rows, next(self._numbers)
        for _, name in rows.blocks:
            self._computing.setdefault(name, []).append(step)

    def _forget(self, step: PendingStep, rows: SharedRows, end: int | None = None) -> None:
        """``step`` no longer computes its blocks up to ``end``, or any."""
        for position, name in rows.blocks:
            if end is not None and position > end:
                break
            computing = self._computing.get(name, [])
            if step in computing:
                computing.remove(step)
            if not computing:
                self._computing.pop(name, None)

    def _longest(self, step: PendingStep) -> _Wait | None:
        """For whom, and for how many positions, ``step`` could wait."""
        rows, number = self._steps[step]
        for end, name in reversed(rows.blocks):
            first = self._computing.get(name, [step])[0]
            if self._number(first) < number:
                return _Wait(first, end)
        return None

    def _followers(self, step: PendingStep) -> dict[PendingStep, _Wait]:
        return {one: wait for one, wait in self._waiting.items() if wait.leader is step}

    def _release(self, ends: dict[PendingStep, int]) -> None:
        """Those who waited for the positions up to ``ends`` are due."""
        for step, end in ends.items():
            del self._waiting[step]
            if self._steps[step][0].known() < end:
                self._alone.add(step)
            self._due.append(step)

    def _number(self, step: PendingStep) -> int:
        return self._steps[step][1]
