"""The table of one row: what was measured, the figure, what was said before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scripts.bench.report import table

_HEAD = ("figure", "SmolLM2-135M-Instruct", "said before")


@dataclass(frozen=True, slots=True)
class Figure:
    """``before``: Markdown; empty where nothing was."""

    what: str
    value: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class Figures:
    """``checked``: what the oracle confirmed before anything was measured. ``after``: Markdown
    that follows the table, such as samples of text.
    """

    checked: str
    rows: tuple[Figure, ...]
    after: str = ""

    def markdown(self) -> str:
        """The sentence of the check, the table and what follows."""
        rows = [(one.what, one.value, one.before) for one in self.rows]
        parts = [f"Checked: {self.checked}.", table(_HEAD, rows).rstrip()]
        return "\n\n".join([*parts, self.after] if self.after else parts)


def of(count: int, whole: int) -> str:
    """``1 of 3 (33.3%)``."""
    return f"{count:,} of {whole:,} ({count / whole:.1%})"


def largest(values: Sequence[float]) -> float:
    """The largest; not a number where one is not, which ``max`` may hide."""
    return math.nan if any(math.isnan(value) for value in values) else max(values)


def require(condition: bool, what: str) -> None:
    """End the program where an oracle disagrees."""
    if not condition:
        raise SystemExit(f"the oracle disagrees: {what}")
