"""Keys and values of hidden spans, as they were: cold storage in the host's memory.

What is hidden takes as much of it as before, and is counted with its session.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import torch

from split_server.kv.buffers import Shape
from split_server.kv.run import new_slab
from split_wire.hiding.spans import Spans, count, cut


class Cold:
    """``layers``: [2, kv_heads, n, head_dim] each, of which the first positions are those of
    ``spans``, one after the other; it is never changed.
    """

    def __init__(self, spans: Spans = (), layers: Sequence[torch.Tensor] = ()) -> None:
        self.spans = spans
        self.layers = layers
        self.size = sum(layer.nbytes for layer in layers)
        self.positions = count(spans)
        self._starts = [start for start, _ in spans]
        self._before = [0, *accumulate(end - start for start, end in spans)]
        self._places: tuple[tuple[int, int], torch.Tensor] | None = None

    def __bool__(self) -> bool:
        return bool(self.spans)

    def below(self, position: int) -> int:
        """How many positions below ``position`` are hidden."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return 0
        start, end = self.spans[index]
        return self._before[index] + min(end, position) - start

    def cut(self, length: int) -> Cold:
        """Of the first ``length`` positions; the memory of the others is kept."""
        spans = cut(self.spans, length)
        return self if spans == self.spans else Cold(spans, self.layers if spans else ())

    def among(self, start: int, end: int) -> torch.Tensor:
        """Which of the positions from ``start`` to ``end`` are hidden, bool [n]."""
        if self._places is None or self._places[0] != (start, end):
            self._places = (start, end), hidden_among(self.spans, end)[start:]
        return self._places[1]


def new_cold(spans: Spans, shapes: Sequence[Shape], dtype: torch.dtype) -> Cold:
    """Room for ``spans``; ``shapes``: [kv_heads, head_dim] of each layer.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    held = count(spans)
    if not held:
        return Cold()
    return Cold(spans, new_slab([(2, heads, held, width) for heads, width in shapes], dtype))


def hidden_among(spans: Spans, length: int) -> torch.Tensor:
    """Which of the first ``length`` positions ``spans`` have, bool [length]."""
    steps = torch.zeros(length + 1, dtype=torch.int8)
    edges = torch.tensor(cut(spans, length), dtype=torch.int64).view(-1, 2)
    steps[edges[:, 0]] += 1
    steps[edges[:, 1]] -= 1
    return steps[:-1].cumsum(0, dtype=torch.int8).bool()


def position_bytes(shapes: Sequence[Shape], dtype: torch.dtype) -> int:
    """Of keys and values of one position over all layers."""
    return dtype.itemsize * sum(2 * math.prod(shape) for shape in shapes)
