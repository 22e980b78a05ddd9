"""The picture: what is left of the use against what the strongest attack recovers, by mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from split_client.audit.errors import OutputFailed, PlotUnavailable
from split_client.audit.report.style import BLUE, GREY, ORANGE, STYLE

_SIZE = (7.6, 5.0)
# Around the full marker of one conversation, where both are as good.
_HOLLOW = {"fmt": "s", "markerfacecolor": "none", "markersize": 9}
# Percent; closer than this in both directions, labels would lie upon each other.
_BESIDE, _ABOVE, _MIDDLE = 15.0, 5.0, 50.0
_ONE, _MANY, _PRIOR = BLUE, ORANGE, GREY


def require_matplotlib() -> None:
    """Raises PlotUnavailable where it is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise PlotUnavailable from error


def draw(made: dict[str, Any], target: Path) -> None:
    """Draw the document of an audit as SVG. Raises PlotUnavailable, OutputFailed."""
    require_matplotlib()
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot

    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=_SIZE, layout="constrained")
        _points(axes, made["modes"])
        axes.set_xlabel("use: likeliest token the same as without noise (%)")
        axes.set_ylabel("message tokens recovered, strongest attack (%)")
        axes.set_title("What a mode leaves of the use, and what it hides")
        axes.set_xlim(-4, 108)
        axes.set_ylim(-4, 108)
        figure.legend(frameon=False, loc="outside lower center", ncols=3, fontsize="small")
        try:
            figure.savefig(target, format="svg", metadata={"Date": None})
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise OutputFailed(str(target), reason) from error
        finally:
            pyplot.close(figure)


def _points(axes: Any, modes: list[dict[str, Any]]) -> None:
    for colour, style, key, label in (
        (_ONE, {"fmt": "o"}, "strongest", "one conversation"),
        (_MANY, _HOLLOW, "strongest_of_many", "the same message in many conversations"),
    ):
        shown = [mode for mode in modes if mode[key] is not None and mode["use"] is not None]
        if not shown:
            continue
        x = [mode["use"]["same"] for mode in shown]
        y = [mode["attacks"][mode[key]]["top1"] for mode in shown]
        axes.errorbar(
            [100 * value for value, *_ in x],
            [100 * value for value, *_ in y],
            xerr=_bars(x),
            yerr=_bars(y),
            color=colour,
            elinewidth=1,
            label=label,
            **style,
        )
    there = [mode for mode in modes if mode["strongest"] is not None and mode["use"] is not None]
    if there:
        prior = max(mode["attacks"][mode["prior"]]["top1"][0] for mode in there)
        style = {"color": _PRIOR, "linestyle": "--", "linewidth": 1}
        axes.axhline(100 * prior, label="without any row", **style)
    _labels(axes, there)


def _bars(figures: list[list[float]]) -> list[list[float]]:
    below = [100 * max(0.0, value - low) for value, low, _ in figures]
    above = [100 * max(0.0, high - value) for value, _, high in figures]
    return [below, above]


def _labels(axes: Any, modes: list[dict[str, Any]]) -> None:
    """Names beside the points; modes that lie together share a label, one line each."""
    for (x, y), names in _together(modes):
        right, high = x > _MIDDLE, y > _MIDDLE
        axes.annotate(
            "\n".join(names),
            (x, y),
            xytext=(-6 if right else 10, -12 if high else 0),
            textcoords="offset points",
            fontsize=9,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            ha="right" if right else "left",
            va="top" if high else "center",
        )


def _together(modes: list[dict[str, Any]]) -> list[tuple[tuple[float, float], list[str]]]:
    groups: list[tuple[tuple[float, float], list[str]]] = []
    for mode in modes:
        x, y = 100 * mode["use"]["same"][0], 100 * mode["attacks"][mode["strongest"]]["top1"][0]
        for (near_x, near_y), names in groups:
            if abs(x - near_x) <= _BESIDE and abs(y - near_y) <= _ABOVE:
                names.append(mode["name"])
                break
        else:
            groups.append(((x, y), [mode["name"]]))
    return groups
