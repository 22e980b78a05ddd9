"""The look of pictures that matplotlib draws, readable on light and dark pages alike."""

from __future__ import annotations

from typing import Any

BASE: dict[str, Any] = {
    "svg.fonttype": "none",
    # Element ids come from this instead of a random number, so that equal figures are equal files.
    "svg.hashsalt": "gatelink",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#e4e6ea",
}
STYLE: dict[str, Any] = BASE | {
    "font.family": "sans-serif",
    "axes.edgecolor": "#8a8f98",
    "axes.labelcolor": "#30343b",
    "axes.titlesize": 12,
    "axes.titlepad": 12,
    "xtick.color": "#5b616b",
    "ytick.color": "#5b616b",
    "text.color": "#30343b",
}
BLUE, ORANGE, GREEN, GREY = "#2563a8", "#d1651a", "#2f8f5b", "#8a8f98"
