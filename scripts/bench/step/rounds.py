"""What every program does in a round, in turn with the others."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from scripts.bench.beside.burners import Burners
from scripts.bench.step.programs import MINE, OURS, STOCK
from scripts.bench.workers import Worker

BUSY = "busy"
PREFILL = "prefill"
_PREFILL_REPEATS = 2
# Figures of one program in one round: milliseconds of each pass, by the work and the clock.
Done = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Work:
    """Passes that a program can be asked for: steps of sessions, or a prefill."""

    name: str
    context: int = 0
    sessions: int = 1
    steps: int = 0
    rows: int = 0

    def request(self, program: str) -> dict[str, Any]:
        """What the program's worker is asked."""
        if self.rows:
            return {"op": "prefill", "rows": self.rows, "repeats": _PREFILL_REPEATS}
        asked: dict[str, Any] = {"op": "step", "context": self.context, "steps": self.steps}
        return asked if program == STOCK else {**asked, "sessions": self.sessions}


def sessions_name(sessions: int, context: int) -> str:
    """The work of so many sessions that decode at once, with such caches."""
    return f"context {context}" if sessions == 1 else f"sessions {sessions}"


def works(options: argparse.Namespace) -> list[Work]:
    """Of a quiet machine, in the order of a round."""
    first, steps = options.contexts[0], options.steps
    alone = [Work(sessions_name(1, each), each, steps=steps) for each in options.contexts]
    together = [
        Work(sessions_name(count, first), first, count, steps)
        for count in options.sessions
        if count > 1
    ]
    prefill = [Work(PREFILL, rows=options.prefill)] if options.prefill else []
    return [*alone, *together, *prefill]


def takes_part(program: str, work: Work, options: argparse.Namespace) -> bool:
    """The stock model has no sessions; peers have caches of one length."""
    if program == STOCK:
        return work.sessions == 1
    return program in MINE.values() or work.context in (0, options.contexts[0])


def one_round(
    workers: dict[str, Worker], options: argparse.Namespace, burners: Burners, turn: int
) -> dict[str, Done]:
    """Every program's passes of a quiet machine, then steps of a busy one."""
    names = list(workers)
    # Another program begins each round, so that none always follows the same one.
    names = names[turn % len(names) :] + names[: turn % len(names)]
    done: dict[str, Done] = {name: {} for name in names}
    for work in works(options):
        for name in names:
            if takes_part(name, work, options):
                done[name][work.name] = workers[name].ask(**work.request(name))
    if burners.count:
        work = Work(BUSY, options.contexts[0], steps=options.steps)
        with burners.burning():
            for name in names:
                done[name][BUSY] = workers[name].ask(**work.request(name))
    if OURS in workers:
        done[OURS]["bandwidth"] = workers[OURS].ask(op="bandwidth")
    return done
