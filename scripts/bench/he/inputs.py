"""Inputs of every scheme of the encrypted-adapter benchmark, and how its answers are judged."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.bench.report import median
from scripts.bench.timing import timed


@dataclass(frozen=True)
class Problem:
    """Adapter matrix A [r, H] and a hidden state [H], float32, and A h in float64."""

    a: NDArray[np.float32]
    h: NDArray[np.float32]

    @classmethod
    def random(cls, hidden: int, rank: int) -> Problem:
        """Entries of A with deviation 0.02, of the hidden state with deviation 2."""
        rng = np.random.default_rng(hidden * 100 + rank)
        a = rng.normal(0, 0.02, (rank, hidden)).astype(np.float32)
        return cls(a, rng.normal(0, 2, hidden).astype(np.float32))

    def error(self, found: NDArray[np.float64]) -> float:
        """Euclidean distance from the float64 product, relative to its length."""
        exact = self.a.astype(np.float64) @ self.h.astype(np.float64)
        return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


@dataclass
class Measured:
    """Processor milliseconds of each stage, bytes, and the error before anything was timed."""

    cpu_ms: dict[str, list[float]] = field(default_factory=dict)
    wall_ms: dict[str, list[float]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    error: float = 0.0

    def lap(self, stage: str, work: Callable[[], Any]) -> Any:
        """Do and time one piece of work; what it returned."""
        kept: list[Any] = []
        spent = timed(lambda: kept.append(work()))
        self.cpu_ms.setdefault(stage, []).append(spent.cpu_ms)
        self.wall_ms.setdefault(stage, []).append(spent.ms)
        return kept[0]

    def median(self, *stages: str) -> float:
        """Processor milliseconds: the sum of the medians of these stages."""
        return sum(median(self.cpu_ms[stage]) for stage in stages)

    def require(self, found: float, bound: float, name: str) -> None:
        """Exit when a checked answer is further off than ``bound``."""
        self.error = found
        if not found < bound:
            sys.exit(f"{name}: relative error {found:.2g}, more than {bound:.0e}")


class Progress:
    """A bar on standard error that redraws itself."""

    def __init__(self, steps: int) -> None:
        self._steps, self._done = steps, 0

    def step(self, label: str, steps: int = 1) -> None:
        """``steps`` more are done; ``label`` names what comes next."""
        self._done = min(self._done + steps, self._steps)
        filled = 30 * self._done // self._steps
        bar = "#" * filled + "-" * (30 - filled)
        print(f"\r[{bar}] {self._done}/{self._steps} {label:<24}", end="", file=sys.stderr)
        sys.stderr.flush()

    def close(self) -> None:
        """Leave the bar as it stands."""
        print(file=sys.stderr)
