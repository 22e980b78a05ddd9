"""Processor time and bytes per token of every scheme, as SVG. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.bench.he import coefficients, mm, slots
from scripts.bench.he.inputs import Measured
from scripts.bench.he.report import Run
from split_client.audit.report.style import BASE, BLUE, GREY, ORANGE

_COLOURS = {coefficients.NAME: BLUE, slots.NAME: GREY, mm.NAME: ORANGE}
_STYLE = BASE | {"axes.axisbelow": True, "axes.grid.axis": "y"}
_WIDTH = 0.26


def plot(runs: dict[str, Run], target: Path) -> None:
    """Two panels of bars, logarithmic; a scheme that was not run has no bar."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot

    with pyplot.rc_context(_STYLE):
        figure, (left, right) = pyplot.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
        _bars(left, runs, _milliseconds, 1)
        left.set_title("Processor ms of a token, both sides")
        _bars(right, runs, _kilobytes, 10)
        right.set_title("kB of a token, both ways")
        handles, labels = left.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        figure.savefig(target, format="svg", facecolor="white", metadata={"Date": None})
        pyplot.close(figure)


def _bars(
    axes: Any, runs: dict[str, Run], height: Callable[[Measured], float], lowest: float
) -> None:
    for place, (name, colour) in enumerate(_COLOURS.items()):
        found = [(i, run[name]) for i, run in enumerate(runs.values())]
        at = [i + (place - 1) * _WIDTH for i, measured in found if measured is not None]
        heights = [height(measured) for _, measured in found if measured is not None]
        axes.bar(at, heights, _WIDTH, color=colour, label=name)
    axes.set_yscale("log")
    axes.set_ylim(bottom=lowest)
    axes.set_xticks(range(len(runs)), list(runs))
    axes.tick_params(length=0)


def _milliseconds(measured: Measured) -> float:
    return measured.median("encrypt", coefficients.HOST, "decrypt")


def _kilobytes(measured: Measured) -> float:
    return (measured.sizes["up"] + measured.sizes["down"]) / 1e3
