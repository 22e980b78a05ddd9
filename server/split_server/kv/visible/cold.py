"""Keys and values of hidden spans, as they were: cold storage in the host's memory.

What is hidden takes as much of it as before, and is counted with its session.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch

from split_server.kv.buffers import Shape
from split_server.kv.run import new_slab
from split_wire.spans import Spans, count

# Keys and values, [kv_heads, n, head_dim] each, of the positions of a layer.
_RowsOf = Callable[[int, int, int], tuple[torch.Tensor, torch.Tensor]]


@dataclass(frozen=True, slots=True, eq=False)
class ColdSpan:
    """The positions from ``start`` to ``end``; ``layers``: [2, kv_heads, n, head_dim] each, whose
    first positions they are.
    """

    start: int
    end: int
    layers: Sequence[torch.Tensor]

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return sum(layer.nbytes for layer in self.layers)


class Cold:
    """Of some cache, ``parts`` sorted by their positions; it is never changed."""

    def __init__(self, parts: Sequence[ColdSpan] = ()) -> None:
        self._parts = tuple(parts)
        self.spans: Spans = tuple((part.start, part.end) for part in self._parts)
        self.size = sum(part.size for part in self._parts)
        self.positions = count(self.spans)

    def __bool__(self) -> bool:
        return bool(self._parts)

    def below(self, position: int) -> int:
        """How many positions below ``position`` are hidden."""
        if not self._parts or position >= self._parts[-1].end:
            return self.positions
        return sum(min(end, position) - start for start, end in self.spans if start < position)

    def cut(self, length: int) -> Cold:
        """Of the first ``length`` positions; a span that is cut keeps its memory."""
        if not self._parts or self._parts[-1].end <= length:
            return self
        left = (part for part in self._parts if part.start < length)
        return Cold([replace(part, end=min(part.end, length)) for part in left])

    def rows(self, index: int, start: int, end: int) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Those from ``start`` to ``end`` of a layer, [kv_heads, n, head_dim] each, where one span
        has all of them.
        """
        for part in self._parts:
            if part.start <= start and end <= part.end:
                keys, values = part.layers[index][:, :, start - part.start : end - part.start]
                return keys, values
        return None

    def of(self, spans: Spans, shapes: Sequence[Shape], rows: _RowsOf, dtype: torch.dtype) -> Cold:
        """The same with copies of ``rows`` for what is new in ``spans``; ``shapes``: [kv_heads,
        head_dim] of each layer.

        Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
        """
        known = {(part.start, part.end): part for part in self._parts}
        return Cold([known.get(span) or _copied(*span, shapes, rows, dtype) for span in spans])

    def new_bytes(self, spans: Spans, position_bytes: int) -> int:
        """Bytes that :meth:`of` takes."""
        return position_bytes * count(tuple(span for span in spans if span not in self.spans))


def _copied(
    start: int, end: int, shapes: Sequence[Shape], rows: _RowsOf, dtype: torch.dtype
) -> ColdSpan:
    slab = new_slab([(2, heads, end - start, width) for heads, width in shapes], dtype)
    for index, layer in enumerate(slab):
        keys, values = rows(index, start, end)
        layer[0].copy_(keys)
        layer[1].copy_(values)
    return ColdSpan(start, end, slab)


def position_bytes(shapes: Sequence[Shape], dtype: torch.dtype) -> int:
    """Of keys and values of one position over all layers."""
    return dtype.itemsize * sum(2 * math.prod(shape) for shape in shapes)
