"""Figures of an attack, each with the bar that it is held to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """``name``: of what was measured; ``value`` and ``bar`` as they are shown; ``held``: whether
    the value keeps to the bar.
    """

    name: str
    value: str
    bar: str
    held: bool
