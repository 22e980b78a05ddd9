"""The largest distance between two rows of a clipped table, or a proven bound on it.

By the triangle inequality two rows are no farther apart than their distances from any point,
added. Rows far from the table's mean are compared first, and once what was found exceeds the sum
of what remains, no other pair can be farther apart. In trained tables few rows lie far out: of
the 1.2 billion pairs of SmolLM2's rows some 200,000 are compared. Rows that all lie equally far out
have to be compared each with each; where that takes too many multiplications, the sum bounds it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_privacy.mechanism import clipped

# Multiplications that a search may take: a second of one core, some of a phone's.
MOST_PRODUCTS = 5e9
# Rows that are read at once; a block of them in float64 is some MiB.
_BLOCK = 1024
# Rows that are compared at once with all that may be farther from them than what was found.
_STRIP = 64
_EPSILON = float(np.finfo(np.float64).eps)

Rows = Callable[[list[int]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Farthest:
    """No two clipped rows are farther apart than ``distance``; ``exact``: two rows are that far."""

    distance: float
    exact: bool


def largest_distance(
    rows: Rows, count: int, width: int, clip: float, most_products: float = MOST_PRODUCTS
) -> Farthest:
    """Over all pairs of the ``count`` rows, rounded up, at most twice ``clip``.

    ``rows(ids)`` are float32 [n, width]. Takes at most ``most_products`` multiplications and
    those of a few looks at the table. In float64: the error of a squared distance is at most
    2 (width + 8) units of rounding times the square of the longest row, and is added.
    """
    return _Search(rows, count, width, clip).made(most_products)


def norms(rows: Rows, count: int) -> NDArray[np.float64]:
    """The norms [count] of a table's rows."""
    parts = [np.linalg.norm(rows(ids).astype(np.float64), axis=1) for ids in _blocks(count)]
    return np.concatenate(parts)


class _Search:
    """``_far``: all ids, those farthest from the mean first; ``_radii``: how far, rounded up."""

    def __init__(self, rows: Rows, count: int, width: int, clip: float) -> None:
        self._rows, self._count, self._width, self._clip = rows, count, width, clip
        self._centre = np.zeros(width)
        total = sum(self._around(ids).sum(axis=0) for ids in _blocks(count))
        self._centre = np.asarray(total / count)
        found = [np.linalg.norm(self._around(ids), axis=1) for ids in _blocks(count)]
        radii = np.concatenate(found) * (1.0 + 2.0 * (width + 8) * _EPSILON)
        self._far = np.argsort(-radii, kind="stable")
        self._radii = radii[self._far]
        # No row is longer.
        reach = float(radii.max() + np.linalg.norm(self._centre))
        self._error = 4.0 * (width + 8) * _EPSILON * reach * reach

    def made(self, most_products: float) -> Farthest:
        """What was found, and whether the products sufficed."""
        squared = self._hops()
        for first in range(0, self._count - 1, _STRIP):
            last = self._in_question(first, self._found(squared))
            if last < first + 2:
                break
            most_products -= _STRIP * (last - first) * self._width
            if most_products < 0:
                bound = float(self._radii[first] + self._radii[first + 1])
                return Farthest(min(max(self._found(squared), bound), 2.0 * self._clip), False)
            squared = max(squared, self._strip(first, last))
        return Farthest(min(self._found(squared), 2.0 * self._clip), True)

    def _found(self, squared: float) -> float:
        return math.sqrt(squared + self._error)

    def _hops(self) -> float:
        """From the row farthest out to its farthest, and from there on: most of the way."""
        squared, at = 0.0, int(self._far[0])
        for _ in range(2):
            here = self._around([at])[0]
            apart = [
                np.square(self._around(ids) - here).sum(axis=1) for ids in _blocks(self._count)
            ]
            distances = np.concatenate(apart)
            at = int(distances.argmax())
            squared = max(squared, float(distances[at]))
        return squared

    def _in_question(self, first: int, found: float) -> int:
        """The end of the rows that may be farther than ``found`` from those from ``first`` on."""
        return int(np.searchsorted(-self._radii, self._radii[first] - found, side="left"))

    def _strip(self, first: int, last: int) -> float:
        left = self._around(self._far[first : first + _STRIP].tolist())
        largest = 0.0
        for start in range(first, last, _BLOCK):
            right = self._around(self._far[start : min(start + _BLOCK, last)].tolist())
            squared = np.square(left).sum(axis=1)[:, None] + np.square(right).sum(axis=1)[None, :]
            largest = max(largest, float((squared - 2.0 * (left @ right.T)).max()))
        return largest

    def _around(self, ids: list[int]) -> NDArray[np.float64]:
        """Clipped rows as seen from the mean."""
        return clipped(self._rows(ids), self._clip) - self._centre


def _blocks(count: int) -> list[list[int]]:
    return [list(range(first, min(first + _BLOCK, count))) for first in range(0, count, _BLOCK)]
