"""A run: keys and values of consecutive positions that were computed once and may be needed again.

The unit of storing, copying and eviction; its blocks are the unit of naming and matching.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch

from split_server.kv.block_key import BLOCK
from split_server.kv.buffers import Shape, new_buffer

MOST_POSITIONS = 256


@dataclass(eq=False, slots=True)
class Run:
    """Positions from ``start`` to ``end`` that follow those of ``parent``, which ends behind
    ``start`` or with it.

    ``digests``: 16 bytes for the chain after each position; ``names`` of its blocks by the position
    they end with; ``layers``: [2, kv_heads, positions, head_dim] each, keys and values; ``space``:
    what the names of one principal and salt have in common; ``to_disk``: whether it may be written
    there; ``fetched``: it was read from there and not used since.
    """

    owner: str
    start: int
    end: int
    digests: bytes
    names: dict[int, bytes]
    layers: list[torch.Tensor]
    parent: Run | None
    children: int = 0
    readers: int = 0
    used: float = 0.0
    space: bytes = b""
    to_disk: bool = True
    fetched: bool = False
    size: int = field(init=False)

    def __post_init__(self) -> None:
        tensors = sum(layer.nbytes for layer in self.layers)
        self.size = tensors + len(self.digests) + sum(map(len, self.names.values()))


@dataclass(frozen=True, slots=True)
class Span:
    """The positions from ``start`` to ``end`` of ``run``."""

    run: Run
    start: int
    end: int

    @property
    def digests(self) -> bytes:
        """The chain after each of them, 16 bytes each."""
        size = len(self.run.digests) // (self.run.end - self.run.start)
        first, last = self.start - self.run.start, self.end - self.run.start
        return self.run.digests[size * first : size * last]


def spans_to(run: Run, end: int) -> list[Span]:
    """The first ``end`` positions, of which ``run`` has the last."""
    found = []
    at: Run | None = run
    while at is not None:
        found.append(Span(at, at.start, end))
        end, at = at.start, at.parent
    return found[::-1]


def pieces(start: int, end: int) -> Iterator[tuple[int, int]]:
    """The runs into which positions are cut."""
    while start < end:
        stop = min(end, (start // MOST_POSITIONS + 1) * MOST_POSITIONS)
        yield start, stop
        start = stop


def block_ends(start: int, end: int) -> list[int]:
    """Where the blocks of a run end; the last one may be partial."""
    whole = range((start // BLOCK + 1) * BLOCK, end + 1, BLOCK)
    return [*whole] if end % BLOCK == 0 else [*whole, end]


def new_slab(shapes: Sequence[Shape], dtype: torch.dtype) -> list[torch.Tensor]:
    """Tensors of ``shapes`` in one piece of host memory, which is freed with the last of them."""
    sizes = [math.prod(shape) for shape in shapes]
    whole = new_buffer((sum(sizes),), dtype, torch.device("cpu"))
    parts = torch.split(whole, sizes)
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]
