"""What the decode step is held to, as ratios of times within one run."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.bench.report import median, spread, table
from scripts.bench.step.figures import Figures, Part, has, laps, ratios
from scripts.bench.step.programs import INT8, OURS, llama_name
from scripts.bench.step.rounds import BUSY, PREFILL, sessions_name

SHAPE = "m"
_OTHER = "commit "
_F16, _Q8 = llama_name("f16"), llama_name("q8_0")


@dataclass(frozen=True, slots=True)
class Bar:
    """``part``'s time of a pass over ``whole``'s, with ``threads`` (0: with any number).

    ``sessions``: of a step, 0 for a prefill; ``least``: the ratio has to be so large, not small.
    """

    part: str
    whole: str
    sessions: int
    wanted: float
    threads: int = 0
    least: bool = False

    def kept(self, ratio: float) -> bool:
        """Whether ``ratio`` is as wanted."""
        return (operator.ge if self.least else operator.le)(ratio, self.wanted)

    def words(self) -> str:
        """The bound, for people."""
        return f"at {'least' if self.least else 'most'} {self.wanted:g} x"


_BARS = (
    Bar(OURS, _F16, 1, 1.6, threads=1),
    Bar(OURS, _F16, 1, 1.35, threads=2),
    Bar(OURS, _F16, 4, 0.6, threads=1),
    Bar(OURS, _F16, 4, 1.0, threads=2),
    Bar(OURS, _F16, 16, 0.4, threads=1),
    Bar(OURS, _F16, 16, 0.8, threads=2),
    Bar(OURS, _F16, 0, 0.5),
    Bar(_OTHER, OURS, 1, 1.25, least=True),
    Bar(INT8, OURS, 1, 0.9),
    Bar(INT8, _Q8, 1, 1.5),
)
_BUSY = Bar(OURS, OURS, 1, 2.5)


def bars(runs: Sequence[Figures]) -> str:
    """A table of all bars that the programs which took part can show; wall time decides."""
    rows = [row for figures in runs for row in _rows(figures)]
    head = ["ratio", "pass", "threads", "wall time", "processor time", "wanted", ""]
    note = f"Medians of the rounds (least to greatest). Wanted of shape {SHAPE}, a quiet machine."
    return table(head, rows) + "\n" + note + "\n"


def _rows(figures: Figures) -> list[list[str]]:
    rows = []
    for bar in _BARS:
        work = PREFILL
        if bar.sessions:
            work = sessions_name(bar.sessions, figures["contexts"][0])
        parts = [(_named(figures, name), work) for name in (bar.part, bar.whole)]
        if bar.threads in (0, figures["threads"]) and all(has(figures, *part) for part in parts):
            rows.append(_row(figures, bar, *parts))
    quiet = (OURS, sessions_name(1, figures["contexts"][0]))
    if has(figures, OURS, BUSY):
        rows.append(_busy_row(figures, quiet))
    return rows


def _named(figures: Figures, name: str) -> str:
    """The other commit's name, which says which one it is."""
    found = (one for one in figures["rounds"][0] if one.startswith(_OTHER))
    return next(found, name) if name == _OTHER else name


def _row(figures: Figures, bar: Bar, part: Part, whole: Part) -> list[str]:
    wall, cpu = (ratios(figures, part, whole, clock) for clock in ("ms", "cpu_ms"))
    told = [spread(wall, "x"), spread(cpu, "x"), bar.words(), _verdict(bar, median(wall))]
    return [f"{part[0]} / {whole[0]}", part[1], str(figures["threads"]), *told]


def _busy_row(figures: Figures, quiet: Part) -> list[str]:
    """Medians of all steps: a busy machine's come in two kinds, and a round may have either."""
    wall, cpu = (
        median(laps(figures, OURS, BUSY, clock)) / median(laps(figures, *quiet, clock))
        for clock in ("ms", "cpu_ms")
    )
    told = [f"{wall:.2f} x", f"{cpu:.2f} x", _BUSY.words(), _verdict(_BUSY, wall)]
    name = f"{OURS}: busy ({figures['busy']} others) / quiet"
    return [name, quiet[1], str(figures["threads"]), *told]


def _verdict(bar: Bar, ratio: float) -> str:
    return "kept" if bar.kept(ratio) else "missed"
