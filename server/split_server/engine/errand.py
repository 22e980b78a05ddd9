"""Work for the model's thread that is no step: it comes between two passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Errand:
    """``work`` is told how many rows it may compute so that nobody who decodes waits for longer
    than for a prompt, and raises nothing; ``refuse`` is told in its place why it is not done.
    """

    work: Callable[[int], None]
    refuse: Callable[[Exception], None]
