"""The largest distance between two rows of a clipped table."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from split_privacy.mechanism import clipped

# Rows of one block of the table; a block of distances is 8 MiB.
_BLOCK = 1024

Rows = Callable[[int, int], NDArray[np.float32]]


def largest_distance(rows: Rows, count: int, width: int, clip: float) -> float:
    """Over all pairs of the ``count`` rows, rounded up.

    ``rows(i, j)`` are rows i to j-1, float32 [j - i, width]. Takes count^2 * width / 2
    multiplications. In float64: the error of a squared distance is at most 2 (width + 8) units of
    rounding times clip^2, and is added.
    """
    largest = 0.0
    for first in range(0, count, _BLOCK):
        left = clipped(rows(first, min(first + _BLOCK, count)), clip)
        for second in range(first, count, _BLOCK):
            right = clipped(rows(second, min(second + _BLOCK, count)), clip)
            largest = max(largest, _largest_squared(left, right))
    error = 4.0 * (width + 8) * float(np.finfo(np.float64).eps) * clip * clip
    return min(math.sqrt(largest + error), 2.0 * clip)


def norms(rows: Rows, count: int) -> NDArray[np.float64]:
    """The norms [count] of a table's rows."""
    parts = [
        np.linalg.norm(rows(first, min(first + _BLOCK, count)).astype(np.float64), axis=1)
        for first in range(0, count, _BLOCK)
    ]
    return np.concatenate(parts)


def _largest_squared(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    squared = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :]
    squared -= 2.0 * (left @ right.T)
    return float(squared.max())
