"""What two token sequences have in common, in the same order: long runs, in linear time.

The beginning and the end that they share are compared at once. In between, blocks of the one are
looked up at every position of the other, and what is found is stretched as far as it goes (as in
rsync, Tridgell and Mackerras 1996). A run that is shorter than two blocks may be missed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.generation.prefix import common_prefix

BLOCK = 16
# A run costs the rows at its beginning that are computed anew, and a pass of the model.
SHORTEST = 2 * BLOCK
# No splice takes more.
MOST_RUNS = 1024
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Common:
    """``count`` tokens from ``old`` on in the one sequence and from ``new`` on in the other."""

    old: int
    new: int
    count: int

    @property
    def old_end(self) -> int:
        """Behind the last of them in the one."""
        return self.old + self.count

    @property
    def new_end(self) -> int:
        """Behind the last of them in the other."""
        return self.new + self.count


def common_runs(old: Sequence[int], new: Sequence[int]) -> list[Common]:
    """Runs that ``new`` has of ``old`` behind their common beginning, at least SHORTEST long and in
    the same order, the longest of them where there are more than MOST_RUNS.
    """
    start = common_prefix(old, new)
    left, right = array("q", old[start:]), array("q", new[start:])
    ending = common_prefix(left[::-1], right[::-1])
    found = _between(left[: len(left) - ending], right[: len(right) - ending])
    runs = [Common(run.old + start, run.new + start, run.count) for run in found]
    if ending >= SHORTEST:
        runs.append(Common(len(old) - ending, len(new) - ending, ending))
    if len(runs) > MOST_RUNS:
        longest = sorted(runs, key=lambda run: -run.count)[:MOST_RUNS]
        runs = sorted(longest, key=lambda run: run.new)
    return runs


def may_have_runs(old: Sequence[int], new: Sequence[int]) -> bool:
    """False where :func:`common_runs` finds none but at the end, a tenth of its time where it does.

    Blocks are compared by sums that few others have (Karp and Rabin 1987).
    """
    if common_prefix(old[: -SHORTEST - 1 : -1], new[: -SHORTEST - 1 : -1]) == SHORTEST:
        return True
    left, right = (_sums(np.asarray(tokens, np.uint64)) for tokens in (old, new))
    return bool(np.isin(left[::BLOCK], right).any())


def _sums(tokens: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One of each block, at every position."""
    count = max(0, len(tokens) - BLOCK + 1)
    sums = np.zeros(count, np.uint64)
    for at in range(BLOCK):
        sums = sums * _FACTOR + tokens[at : at + count]
    return sums


def _between(old: array[int], new: array[int]) -> list[Common]:
    places = dict[bytes, list[int]]()
    for at in range(0, len(old) - BLOCK + 1, BLOCK):
        places.setdefault(old[at : at + BLOCK].tobytes(), []).append(at)
    runs, at, last = list[Common](), 0, Common(0, 0, 0)
    while at <= len(new) - BLOCK:
        known = places.get(new[at : at + BLOCK].tobytes(), [])
        # What is nearest behind the last run leaves most to be found.
        index = bisect_left(known, last.old_end)
        if index == len(known):
            at += 1
            continue
        run = _stretched(old, new, known[index], at, last)
        if run.count >= SHORTEST:
            runs.append(run)
            last = run
        at = max(run.new_end, at + 1)
    return runs


def _stretched(old: array[int], new: array[int], there: int, here: int, last: Common) -> Common:
    """The run around a block that both have, behind the ``last`` one."""
    before = 0
    room = min(there - last.old_end, here - last.new_end)
    while before < room and old[there - before - 1] == new[here - before - 1]:
        before += 1
    return Common(there - before, here - before, before + _alike(old, new, there, here))


def _alike(old: array[int], new: array[int], there: int, here: int) -> int:
    """How many tokens from these two places on are the same, of which a block is."""
    count, step = BLOCK, BLOCK
    while True:
        one = old[there + count : there + count + step]
        other = new[here + count : here + count + step]
        if len(one) < step or one != other:
            return count + common_prefix(one, other)
        # Twice as far each time: a long run is compared once, and what differs soon is not copied.
        count, step = count + step, 2 * step
