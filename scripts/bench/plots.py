"""Pictures of saved figures: throughput over sessions, step time over context.

Needs matplotlib (``pip install '.[bench]'``). SVG with text as text, readable on light and dark
pages because the background is part of the picture.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import ScalarFormatter

from scripts.bench.report import median
from scripts.bench.step.figures import bandwidth, bytes_of, series
from scripts.bench.step.programs import INT8, OURS, STOCK
from split_client.audit.report.style import BLUE, GREEN, GREY, ORANGE, STYLE

_STYLE = STYLE | {"axes.grid.axis": "y", "lines.linewidth": 2}
_SIZE = (7.2, 4.6)
_COLOURS = (BLUE, ORANGE, GREEN)


def throughput(saved: list[dict[str, Any]], target: Path) -> None:
    """Tokens per second over the number of sessions, for each saved run of bench/batch."""
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=_SIZE, layout="constrained")
        for run, colour in zip(saved, _COLOURS, strict=False):
            _batch_lines(axes, run, colour)
        counts = sorted({int(count) for run in saved for count in run["figures"]})
        axes.set_xscale("log", base=2)
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.set_xlabel("sessions that decode at the same time")
        context, shape = saved[0]["context"], saved[0]["shape"]
        axes.set_title(f"Tokens per second of all sessions (shape {shape}, context {context})")
        _finish(axes, figure, target)


def step_time(figures: dict[str, Any], target: Path) -> None:
    """Milliseconds of a decode step over the context, with what reading alone would take."""
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=_SIZE, layout="constrained")
        contexts = figures["contexts"]
        for name, colour in ((STOCK, GREY), (OURS, BLUE), (INT8, ORANGE)):
            times = [median(series(figures, name, f"context {c}")) for c in contexts]
            axes.plot(contexts, times, "o-", color=colour, label=name, markersize=4)
            if name != STOCK:
                least = [1e3 * bytes_of(figures, name, c) / bandwidth(figures) for c in contexts]
                axes.plot(contexts, least, "--", color=colour, label=f"{name}: reading alone")
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.set_yticks([tick for tick in (10, 20, 50, 100, 200, 500) if _within(axes, tick)])
        axes.minorticks_off()
        axes.set_xticks(contexts, [f"{context:,}" for context in contexts])
        axes.set_xlabel("positions in the cache")
        shape, dtype = figures["shape"], figures["dtype"]
        axes.set_title(f"Milliseconds of a decode step (shape {shape}, {dtype}, one session)")
        _finish(axes, figure, target)


def _batch_lines(axes: Axes, run: dict[str, Any], colour: str) -> None:
    rounds = {int(count): values for count, values in run["figures"].items()}
    counts = sorted(rounds)
    for key, style, label in (
        ("ours", "o-", "packed"),
        ("stock", "--", "stock, one after another"),
    ):
        rates = [median([one[key] for one in rounds[count]]) for count in counts]
        name = f"{run['kind']}, {label}"
        axes.plot(counts, rates, style, color=colour, label=name, markersize=4)


def _within(axes: Axes, tick: float) -> bool:
    low, high = axes.get_ylim()
    return low <= tick <= high


def _finish(axes: Axes, figure: Any, target: Path) -> None:
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=10)
    axes.tick_params(length=0)
    # Without a date the same figures give the same file.
    figure.savefig(target, format="svg", facecolor="white", metadata={"Date": None})
    pyplot.close(figure)
