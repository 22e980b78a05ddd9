"""Which cell of the context has which position of which sequence.

llama.cpp does not tell, and attention comes by cells. The order in which it takes free cells is
followed here (llama_kv_cache::find_slot and seq_rm, of the versions that ``library`` accepts), and
whoever uses the map checks what comes of it: the weights of a sequence's own cells add up to 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_FREE = -1


class Placed(NamedTuple):
    """The ``cells`` that a pass was put into, and the ``head`` of the map before."""

    cells: npt.NDArray[np.intp]
    head: int


class CellMap:
    """``count`` cells, all free. On the model's thread alone."""

    def __init__(self, count: int) -> None:
        self._owner = np.full(count, _FREE, np.int16)
        self._position = np.zeros(count, np.int32)
        self._head = self._used = 0

    @property
    def used(self) -> int:
        """Cells that have a position."""
        return self._used

    def place(self, sequences: npt.NDArray[np.int16], positions: npt.NDArray[np.int32]) -> Placed:
        """A pass puts rows into cells, in the order in which it has them.

        Raises ValueError where there are not enough.
        """
        count, head = len(sequences), self._head
        if count > len(self._owner) - self._used:
            raise ValueError(f"{count} rows in {len(self._owner) - self._used} cells")
        begin = 0 if self._head > self._used + 2 * count else self._head
        free = np.flatnonzero(self._owner == _FREE)
        split = int(np.searchsorted(free, begin))
        taken = free[split : split + count]
        if len(taken) < count:
            # The search goes on at the first cell.
            taken = np.concatenate([taken, free[: count - len(taken)]])
        self._owner[taken], self._position[taken] = sequences, positions
        self._head, self._used = int(taken[-1]) + 1, self._used + count
        return Placed(taken, head)

    def take_back(self, placed: Placed) -> None:
        """The pass that was placed last did not begin."""
        self._owner[placed.cells] = _FREE
        self._head, self._used = placed.head, self._used - len(placed.cells)

    def remove(self, sequence: int, start: int) -> None:
        """The positions of ``sequence`` from ``start`` on have gone."""
        gone = np.flatnonzero((self._owner == sequence) & (self._position >= start))
        if len(gone):
            self._owner[gone] = _FREE
            self._used -= len(gone)
            self._head = min(self._head, int(gone[0]))

    def of(self, sequence: int) -> npt.NDArray[np.intp]:
        """The cells of ``sequence`` in the order of its positions."""
        cells = np.flatnonzero(self._owner == sequence)
        return cells[np.argsort(self._position[cells], kind="stable")]
