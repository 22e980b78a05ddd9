"""Size classes of K/V buffers: how many positions a buffer has for those that it must hold.

Few classes, so that a buffer that one session gave back fits the next one; each a quarter larger
than the one before, so that a row is copied about four times while its cache grows, and a buffer
is a tenth empty on average.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, repeat

_GRANULE = 32


def _next_class(capacity: int, _: None) -> int:
    """A quarter more, in whole granules."""
    return -(-capacity * 5 // (4 * _GRANULE)) * _GRANULE


# 180 steps of a quarter reach far beyond any context.
_CAPACITIES = (0, *accumulate(repeat(None, 180), _next_class, initial=_GRANULE))


def capacity_for(positions: int) -> int:
    """The smallest class that holds ``positions``: 32, 64, 96, 128, 160, 224, 288, 384, ..."""
    return _CAPACITIES[bisect_left(_CAPACITIES, positions)]


def capacity_within(positions: int) -> int:
    """The largest class of at most ``positions``, 0 where that is none."""
    return _CAPACITIES[bisect_right(_CAPACITIES, positions) - 1]
