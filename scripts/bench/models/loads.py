"""Loads and unloads of a model while another one decodes, and what they did to its steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from scripts.bench.models.loaded import Loaded, Step
from scripts.bench.report import median, spread


class Load(NamedTuple):
    """When it began, the model was loaded, and was gone again; private bytes after that."""

    begun: float
    loaded: float
    gone: float
    private: int

    @classmethod
    def timed(cls, make: Callable[[], Loaded], private: Callable[[], int]) -> Load:
        """Load one and let it go."""
        begun = time.perf_counter()
        model = make()
        loaded = time.perf_counter()
        model.close()
        return cls(begun, loaded, time.perf_counter(), private())


def summary(loads: Sequence[Load], steps: Sequence[Step], alone: Sequence[Step]) -> list[list[str]]:
    """Rows of a table; ``alone``: steps just before and after the loads, while nothing was loaded:
    their middle is the usual one, and their slowest ones are what the machine itself does.
    """
    if not loads:
        return []
    begun, gone = loads[0].begun, loads[-1].gone
    meanwhile = [step for step in steps if begun <= step.begun <= gone]
    usual = median([step.seconds for step in alone])
    memory = [load.private / loads[0].private for load in loads]
    seconds = [load.loaded - load.begun for load in loads]
    return [
        [f"{len(loads)} loads: private memory over the first", spread(memory, "x", 3), "<= 1.05x"],
        ["steps meanwhile over the usual", _slow(meanwhile, usual), "slowest <= 1.3x"],
        ["steps with nothing loaded over the usual", _slow(alone, usual), "the machine itself"],
        ["seconds of a load beside a busy model", spread(seconds, "s"), ""],
    ]


def _slow(steps: Sequence[Step], usual: float) -> str:
    ratios = sorted(step.seconds / usual for step in steps)
    at = lambda share: f"{ratios[int(share * (len(ratios) - 1))]:.2f}x"  # noqa: E731
    slow = sum(ratio > 1.3 for ratio in ratios) / len(ratios)
    found = f"p50 {median(ratios):.2f}x, p99 {at(0.99)}, slowest {at(1.0)}"
    return f"{found}; {100 * slow:.1f}% of {len(ratios)} slower than 1.3x"
