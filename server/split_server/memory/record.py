"""Predicted and actual memory of passes, and how far the prediction has to be corrected."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

_KEPT = 256
# A smaller workspace drowns in what Python and other threads take meanwhile.
_TELLING_BYTES = 2 << 20
_LEAST_CORRECTION, _MOST_CORRECTION = 1.0, 3.0
_FEW = 4
# The first passes also take what kernels and the heap keep for good, which readings show then.
_SETTLING = 4


@dataclass(frozen=True, slots=True)
class Ratios:
    """Actual over predicted bytes of the last ``count`` passes."""

    count: int
    p50: float
    p95: float
    most: float


@dataclass(frozen=True, slots=True)
class _Pass:
    predicted: int
    actual: int
    predicted_workspace: int
    actual_workspace: int
    telling: bool


class PredictionRecord:
    """The last passes that were measured; written by the model thread, read by any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._passes: deque[_Pass] = deque(maxlen=_KEPT)
        self._correction = 1.0
        self._settling = _SETTLING

    @property
    def correction(self) -> float:
        """Factor on the workspace that the plan derives from the shape, 1 to 3."""
        return self._correction

    def add(self, growth: int, grown: int, workspace: int, peak: int) -> None:
        """A pass was to add ``growth`` bytes of cache and hold ``workspace`` uncorrected bytes
        besides; it added ``grown`` and held ``peak``.
        """
        predicted = growth + round(workspace * self._correction)
        with self._lock:
            self._passes.append(_Pass(predicted, grown + peak, workspace, peak, not self._settling))
            self._settling = max(self._settling - 1, 0)
            self._correction = self._learned()

    def ratios(self) -> Ratios | None:
        """Ratios of actual to predicted bytes, None before the first."""
        with self._lock:
            ratios = sorted(one.actual / max(one.predicted, 1) for one in self._passes)
        if not ratios:
            return None
        return Ratios(len(ratios), quantile(ratios, 0.5), quantile(ratios, 0.95), ratios[-1])

    def _learned(self) -> float:
        """The upper quartile of what workspaces took: a plan that is wrong for a model is wrong in
        all of its passes, single ones also have the memory of other threads.
        """
        telling = sorted(
            one.actual_workspace / one.predicted_workspace
            for one in self._passes
            if one.predicted_workspace >= _TELLING_BYTES and one.telling
        )
        if len(telling) < _FEW:
            return max(self._correction, _LEAST_CORRECTION)
        return min(max(quantile(telling, 0.75), _LEAST_CORRECTION), _MOST_CORRECTION)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank quantile of ascending values."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
