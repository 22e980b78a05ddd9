"""Where the cache of a sequence ended whenever it was given up: there a server may keep it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

# No server keeps less under a name.
SHORTEST = 16
_MOST_ENDS = 64


class Trail:
    """Token ids of the caches of one sequence that were cut back or lost, the oldest first."""

    def __init__(self) -> None:
        self._ends: list[array[int]] = []

    @property
    def ends(self) -> list[list[int]]:
        """Those that are remembered."""
        return [list(end) for end in self._ends]

    def note(self, tokens: Sequence[int]) -> None:
        """A cache that held ``tokens`` is given up."""
        if len(tokens) < SHORTEST:
            return
        end = array("q", tokens)
        if end not in self._ends:
            # What is older than so many branches goes by itself sooner.
            self._ends = [*self._ends, end][-_MOST_ENDS:]

    def clear(self) -> None:
        """Nothing of it is kept any more."""
        self._ends = []
