"""Memory of a model in llama.cpp: weights, cells and buffers, all of which it has from its start.

So nothing grows with a session but its share of the cells. Sizes of the buffers follow what the
library reserves for its largest pass (llama_context::sched_reserve); a test compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from split_server.memory.limit import Room
from split_server.memory.plan import MemoryPlan, ModelShape

# The library rounds the number of cells up to this.
CELL_GROUP = 256
_F32 = 4
# Streams of a layer that lie in buffers at once.
_STREAMS, _MLP = 8, 3
# Scores before and after the softmax; the mask in float32 and in half precision.
_SCORES, _MASK_BYTES = 2, 6
# By default there are cells for one full context, or for several short ones, within half of the
# memory that is free: all of them take memory from the start.
_LEAST_DEFAULT, _SHARE = 8192, 2
_MOST_CELLS = 1 << 20
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class CellPlan(MemoryPlan):
    """``cells``: of all sessions. What a step takes beside them are its rows on their way."""

    cells: int = 0

    def cache_bytes(self, positions: int) -> int:  # noqa: ARG002
        """Nothing: the cells are there."""
        return 0

    def row_bytes(self, positions: int) -> int:  # noqa: ARG002
        """Nothing, as :meth:`cache_bytes`."""
        return 0

    def positions_within(self, room: int) -> int:
        """The most positions whose cells take at most ``room`` bytes, within the context."""
        held = max(room, 0) // self.shape.kv_bytes_per_position
        return min(held, self.cells, self.shape.max_context)

    def workspace(self, rows: int, positions: int) -> int:  # noqa: ARG002
        """Bytes of the states of ``rows``, in the library's buffer and as they are handed over."""
        return 2 * rows * self.shape.hidden_size * _F32

    def exchange(self, positions: int) -> int:  # noqa: ARG002
        """Nothing: cells stay where they are."""
        return 0


def buffer_bytes(shape: ModelShape, rows: int, cells: int) -> int:
    """Bytes of what the library computes in, for passes of ``rows`` over ``cells``."""
    scores = _SCORES * shape.num_heads * rows * cells * _F32
    streams = rows * _F32 * (_STREAMS * shape.hidden_size + _MLP * shape.intermediate_size)
    return scores + streams + _MASK_BYTES * rows * cells


def cells_within(shape: ModelShape, rows: int, free: int, wanted: int = 0) -> int:
    """The cells that fit into ``free`` bytes with their buffers: as many as take ``wanted`` bytes,
    or (0) a full context within half of that; 0 where not even a group fits.
    """
    size = shape.kv_bytes_per_position
    most = wanted // size if wanted else max(shape.max_context, _LEAST_DEFAULT)
    most = min(_grouped(most), _MOST_CELLS)
    room = free if wanted else free // _SHARE
    fixed = buffer_bytes(shape, rows, 0)
    each = size + buffer_bytes(shape, rows, 1) - fixed
    fits = max(room - fixed, 0) // each // CELL_GROUP * CELL_GROUP
    return min(most, fits)


def _grouped(cells: int) -> int:
    return max(-(-cells // CELL_GROUP), 1) * CELL_GROUP


def described_cells(plan: CellPlan, weights: int, room: Room, *, mapped: bool) -> Iterator[str]:
    """The plan in lines; ``room``: what is free before the weights are loaded."""
    size = plan.cells * plan.shape.kv_bytes_per_position
    where = "stay in the file" if mapped else "in memory"
    yield f"weights of the middle    {_mib(weights)}, {where}"
    yield f"free                     {_mib(room.free)}, limited by: {room.source}"
    buffers = buffer_bytes(plan.shape, plan.max_rows, plan.cells)
    yield f"buffers of a pass        {_mib(buffers)}, {plan.max_rows} rows"
    yield f"cells of all sessions    {plan.cells:>9,}, {_mib(size).strip()}"
    yield f"cell of one token        {plan.shape.kv_bytes_per_position:>9,} bytes"
    longest = min(plan.cells, plan.shape.max_context)
    yield f"longest single context   {longest:>9,} of {plan.shape.max_context:,} tokens"


def _mib(size: int) -> str:
    return f"{size / _MIB:>9,.0f} MiB"
