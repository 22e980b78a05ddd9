"""Decode passes captured as CUDA graphs: one launch in place of some hundred.

A small pass takes the GPU less time than it takes the processor to launch its kernels; a graph
launches all of them at once (https://docs.nvidia.com/cuda/cuda-c-programming-guide, CUDA graphs).
What a graph reads lies at fixed places, which are filled before it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from split_server.engine.gpu.addresses import AddressBook, pieces_of
from split_server.engine.gpu.batch import DecodeBatch
from split_server.engine.model.loader import Backbone
from split_server.engine.model.packed import Slice
from split_server.kv.cache import buffered

# Rows of the captured passes. Fewer than 16 rows take the matrix units as long as 16, and one
# number of rows for all of them means that a reply does not depend on how many others decode.
SIZES = (16, 32, 64)
_WARM_UPS = 2


@dataclass(frozen=True, slots=True)
class _Captured:
    graph: torch.cuda.CUDAGraph
    hidden: torch.Tensor


class DecodeGraphs:
    """Of ``backbone``; captured when they are first needed.

    ``book``: which has at least as many places as the largest of them has rows. Used by one thread,
    in inference mode.
    """

    def __init__(self, backbone: Backbone, book: AddressBook) -> None:
        self._backbone = backbone
        self._book = book
        most, device = SIZES[-1], backbone.device
        width = backbone.info.hidden_size
        self._rows = torch.zeros(1, most, width, dtype=backbone.dtype, device=device)
        self._captured: dict[tuple[int, int], _Captured] = {}
        # All of them use the same memory for what lies between: one runs at a time.
        self._memory = torch.cuda.graph_pool_handle()

    def run(self, slices: Sequence[Slice]) -> torch.Tensor:
        """[n, H] for n slices of one row each, at most as many as the largest graph has, whose
        caches have room for them.
        """
        size = next(size for size in SIZES if size >= len(slices))
        pieces = pieces_of(max(buffered(part.cache).own(part.end) for part in slices))
        captured = self._captured.get((size, pieces)) or self._capture(size, pieces)
        torch.cat([part.embeddings for part in slices], out=self._rows[0, : len(slices)])
        caches = [buffered(part.cache) for part in slices]
        self._book.fill(caches, [part.start for part in slices], size)
        captured.graph.replay()
        # The next pass overwrites the graph's own.
        return captured.hidden[: len(slices)].clone()

    def _capture(self, size: int, pieces: int) -> _Captured:
        self._book.fill([], [], size)
        places, positions = self._book.places(size, pieces), self._book.positions(size)[None]
        rows = self._rows[:, :size]

        def forward() -> torch.Tensor:
            return self._backbone.hidden(rows, positions, DecodeBatch(places))

        aside = torch.cuda.Stream(self._backbone.device)  # type: ignore[no-untyped-call]
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(_WARM_UPS):
                forward()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        # Other threads copy keys and values meanwhile.
        with torch.cuda.graph(graph, pool=self._memory, capture_error_mode="thread_local"):
            hidden = forward()
        self._captured[size, pieces] = captured = _Captured(graph, hidden)
        return captured
