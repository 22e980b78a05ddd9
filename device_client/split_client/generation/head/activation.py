"""A hidden state as two planes of small integers."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

LEVELS: Final = 63
OFFSET: Final = 64  # makes -63..63 the unsigned 1..127 that the kernel takes
_SMALLEST_STEP: Final = 2.0**-80


@dataclass(frozen=True, slots=True)
class Planes:
    """h = coarse * p1 + fine * p2 + residual, with p1 and p2 in -63..63.

    ``rows``: uint8 [2, hidden], p1 and p2 plus ``OFFSET``. ``norm`` and ``residual_norm`` are the
    Euclidean norms of h and of the residual, in float64.
    """

    rows: NDArray[np.uint8]
    coarse: np.float32
    fine: np.float32
    norm: float
    residual_norm: float


def split(values: NDArray[np.float64]) -> Planes:
    """Split ``values`` [hidden]; the residual is about 2^-14 of the largest element."""
    peak = float(np.abs(values).max(initial=0.0))
    coarse = np.float32(max(peak / LEVELS, _SMALLEST_STEP))
    fine = np.float32(coarse / np.float32(2 * LEVELS))
    first, rest = _quantise(values, float(coarse))
    second, residual = _quantise(rest, float(fine))
    rows = (np.stack([first, second]) + OFFSET).astype(np.uint8)
    return Planes(
        rows, coarse, fine, float(np.linalg.norm(values)), float(np.linalg.norm(residual))
    )


def _quantise(
    values: NDArray[np.float64], step: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    levels = np.clip(np.rint(values / step), -LEVELS, LEVELS)
    return levels, values - levels * step
