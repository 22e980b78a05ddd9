"""What was measured with one number of threads, read for tables and pictures."""

from __future__ import annotations

from typing import Any

from scripts.bench.report import median
from scripts.bench.step.programs import INT8, OURS
from scripts.bench.step.roofline import step_bytes

Figures = dict[str, Any]
# Milliseconds on the clock, and of all threads of the program on the processors, which other
# programs on the machine disturb less.
CLOCKS = {"ms": "wall time", "cpu_ms": "processor time"}
# A program, and one of its works.
Part = tuple[str, str]


def has(figures: Figures, name: str, work: str) -> bool:
    """Whether the program did the work."""
    return work in figures["rounds"][0].get(name, {})


def laps(figures: Figures, name: str, work: str, clock: str = "ms") -> list[float]:
    """Every single pass."""
    return [lap for one in figures["rounds"] for lap in one[name][work][clock]]


def series(figures: Figures, name: str, work: str, clock: str = "ms") -> list[float]:
    """The median of each round."""
    return [median(one[name][work][clock]) for one in figures["rounds"]]


def ratios(figures: Figures, part: Part, whole: Part, clock: str = "ms") -> list[float]:
    """``part`` over ``whole`` in each round."""
    pairs = zip(series(figures, *part, clock), series(figures, *whole, clock), strict=True)
    return [a / b for a, b in pairs]


def bandwidth(figures: Figures) -> float:
    """Bytes per second that the machine read in its best round."""
    return max(one[OURS]["bandwidth"]["bytes_per_second"] for one in figures["rounds"])


def bytes_of(figures: Figures, name: str, context: int) -> int:
    """Bytes that one of our steps reads."""
    facts = figures["facts"][OURS]
    kind = "int8" if name == INT8 else figures["dtype"]
    return step_bytes(facts["matrix_values"], kind, facts["cache_bytes"], context)
