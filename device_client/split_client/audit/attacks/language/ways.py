"""One model's tokens as another one would write them, those that begin alike side by side.

A text of the other model is cut into its tokens in one way alone. What begins with the token " t"
is not all that begins with that letter: " the" is a token of its own.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Way: TypeAlias = tuple[int, ...]
_REMEMBERED = 1 << 15


@dataclass(frozen=True, slots=True)
class Branch:
    """Of the tokens that begin in one way, those that go on: by each of ``tokens`` [c] that comes
    next, from ``bounds`` [c] to the one behind it in the order, the last of ``bounds`` [c + 1].
    """

    tokens: NDArray[np.int64]
    bounds: NDArray[np.int64]

    def shares(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely each of ``tokens`` comes next, [c], given a model's ``sums`` [V + 1]."""
        return np.asarray(np.diff(sums[self.bounds]))

    def whole(self, sums: NDArray[np.float64]) -> float:
        """How likely any of them does."""
        return float(sums[self.bounds[-1]] - sums[self.bounds[0]])


class Ways:
    """``ways``: of every token by id in the other model's; empty for one without a text."""

    def __init__(self, ways: Sequence[Way]) -> None:
        ids = sorted((index for index, way in enumerate(ways) if way), key=ways.__getitem__)
        self._order = np.array(ids, np.int64)
        self._sorted = [ways[index] for index in ids]
        # The same words are begun by many hypotheses.
        self.behind = lru_cache(_REMEMBERED)(self._behind)

    def sums(self, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """``chances`` [n, V] of the next token, summed up in the order, [n, ways + 1]."""
        return np.pad(np.cumsum(chances[:, self._order], axis=1), ((0, 0), (1, 0)))

    def _behind(self, begun: Way) -> Branch:
        """What goes on from ``begun``."""
        # All that are just so come first, and no token has the number behind the last one's.
        first = bisect_right(self._sorted, begun)
        last = bisect_left(self._sorted, (*begun[:-1], begun[-1] + 1)) if begun else None
        going = (way[len(begun)] for way in self._sorted[first:last])
        tokens, counts = [], [first]
        for token, run in groupby(going):
            tokens.append(token)
            counts.append(sum(1 for _ in run))
        return Branch(np.array(tokens, np.int64), np.cumsum(counts))
