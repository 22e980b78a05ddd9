"""A run: keys and values of consecutive positions that were computed once and may be needed again.

The unit of storing, copying and eviction; its blocks are the unit of naming and matching.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import torch

from split_server.kv.block_key import BLOCK
from split_server.kv.buffers import Shape, new_buffer
from split_server.kv.quantise import SCALE_DTYPE, expand, parts_of, scale_shape
from split_wire.tiers import Tier

MOST_POSITIONS = 256


@dataclass(eq=False, slots=True, weakref_slot=True)
class Run:
    """Positions from ``start`` to ``end`` that follow those of ``parent``, which ends behind
    ``start`` or with it.

    ``digests``: 16 bytes for the chain after each position; ``names`` of its blocks by the position
    they end with; ``layers``: [2, kv_heads, positions, head_dim] each, keys and values, as
    :func:`new_slab` makes them; ``pinned_until``: the pool's time up to which it goes for memory
    that sessions need alone; ``space``: what the names of one principal and salt have in common;
    ``to_disk``: whether it may be written there; ``fetched``: it was read from there and not used
    since. ``tier``: of its rows; where they are whole numbers, ``scales`` has theirs for each layer
    (:mod:`split_server.kv.quantise`), and ``expands_to`` the dtype that they had, else that of
    ``layers``. ``copied``: the copies from a GPU, which may still be under way; on that GPU they
    come before all that is asked for later.
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
    copied: torch.cuda.Event | None = None
    pinned_until: float = 0.0
    space: bytes = b""
    to_disk: bool = True
    fetched: bool = False
    tier: Tier = "exact"
    scales: list[torch.Tensor] = field(default_factory=list)
    expands_to: torch.dtype | None = None
    size: int = field(init=False)

    def __post_init__(self) -> None:
        held = sum(layer.nbytes for layer in (*self.layers, *self.scales))
        tensors = slab_bytes(held, self.copied is not None)
        self.size = tensors + len(self.digests) + sum(map(len, self.names.values()))

    def wait(self) -> None:
        """Return when the host may read ``layers``."""
        if self.copied is not None:
            self.copied.synchronize()

    @property
    def dtype(self) -> torch.dtype:
        """Of its rows in a cache."""
        return self.expands_to or self.layers[0].dtype

    def rows(self, index: int, first: int, last: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of a layer, [kv_heads, last - first, head_dim] each, of the positions
        from ``first`` to ``last``, which it has.
        """
        part = slice(first - self.start, last - self.start)
        keys, values = self.layers[index][:, :, part]
        if self.scales:
            keys, values = (torch.empty(keys.shape, dtype=self.dtype) for _ in range(2))
            self.expand(index, first, last, keys, values)
        return keys, values

    def expand(
        self, index: int, first: int, last: int, keys: torch.Tensor, values: torch.Tensor
    ) -> None:
        """Write :meth:`rows`, which are whole numbers here, into ``keys`` and ``values``."""
        coded = parts_of(self.layers[index], self.scales[index])
        expand(coded, self.start, first, last, keys, values)

    def pinned(self, now: float) -> bool:
        """Whether it is pinned at the pool's time ``now``."""
        return self.pinned_until > now


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


def up_to(end: int, spans: Sequence[Span]) -> list[Span]:
    """What ``spans`` have of the first ``end`` positions."""
    return [replace(span, end=min(span.end, end)) for span in spans if span.start < end]


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


def new_slab(
    shapes: Sequence[Shape], dtype: torch.dtype, *, pinned: bool = False
) -> list[torch.Tensor]:
    """Tensors of ``shapes`` in one piece of host memory, which is freed with the last of them.

    ``pinned``: locked in place, so that a GPU copies it while the processor goes on.
    """
    sizes = [math.prod(shape) for shape in shapes]
    if pinned:
        whole = torch.empty(sum(sizes), dtype=dtype, pin_memory=True)
    else:
        whole = new_buffer((sum(sizes),), dtype, torch.device("cpu"))
    parts = torch.split(whole, sizes)
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def new_coded_slab(
    shapes: Sequence[Shape], start: int, *, pinned: bool = False
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """Codes of rows of ``shapes`` [2, kv_heads, n, head_dim] from ``start`` on, and their scales,
    in one piece of host memory as :func:`new_slab` makes it.
    """
    of_scales = [scale_shape(h, width, start, start + n) for _, h, n, width in shapes]
    packed = [(heads, SCALE_DTYPE.itemsize * count) for heads, count in of_scales]
    slab = new_slab([*shapes, *packed], torch.int8, pinned=pinned)
    codes, scales = slab[: len(shapes)], slab[len(shapes) :]
    return codes, [part.view(SCALE_DTYPE) for part in scales]


def whole_slab(layers: Sequence[torch.Tensor]) -> torch.Tensor:
    """The piece of memory that :func:`new_slab` made these of, [layers, *shape]: they are alike."""
    return layers[0].as_strided(
        (len(layers), *layers[0].shape), (layers[0].numel(), *layers[0].stride())
    )


def slab_bytes(size: int, pinned: bool) -> int:
    """What a slab of ``size`` bytes takes: torch gives pinned memory in powers of two."""
    return 1 << (size - 1).bit_length() if pinned and size else size
