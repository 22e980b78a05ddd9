"""Moves positions between the buffers of a session on a GPU and one piece of its memory.

One kernel for all layers: copying layer by layer would take longer to launch than to do. Needs
Triton, which torch brings for CUDA.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from split_server.kv.cache import KVCache

_BLOCK = 1024


def gathered(cache: KVCache, start: int, end: int) -> torch.Tensor:
    """The positions from ``start`` to ``end``: [layers, 2, kv_heads, n, head_dim] on the GPU."""
    buffers = cache.layers[0].buffers
    if buffers is None:
        raise RuntimeError("a cache without buffers has no positions to copy")
    _, heads, _, width = buffers[0].shape
    piece = buffers[0].new_empty((len(cache.layers), 2, heads, end - start, width))
    _move(cache, start, piece, 0, end - start, out=True)
    return piece


def scatter(cache: KVCache, start: int, piece: torch.Tensor, first: int, last: int) -> None:
    """Append the positions of ``piece`` [layers, 2, kv_heads, n, head_dim] from ``first`` to
    ``last`` behind ``start`` held ones; every layer has room for them.
    """
    _move(cache, start, piece, first, last - first, out=False)
    cache.written(start + last - first)


def _move(
    cache: KVCache, start: int, piece: torch.Tensor, first: int, count: int, *, out: bool
) -> None:
    places = [
        [*(buffer.data_ptr() for buffer in layer.buffers or ()), layer.capacity]
        for layer in cache.layers
    ]
    layers, _, heads, rows, width = piece.shape
    # Few enough bytes to be copied without waiting for what the GPU does.
    table = torch.tensor(places).pin_memory().to(piece.device, non_blocking=True)
    grid = (layers * 2 * heads, triton.cdiv(count * width, _BLOCK))
    with torch.cuda.device(piece.device):
        _moved[grid](
            *(piece, table, start, first, count * width, rows * width, heads),
            WIDTH=width,
            BLOCK=_BLOCK,
            OUT=out,
        )


@triton.jit  # type: ignore[untyped-decorator]
def _moved(  # type: ignore[no-untyped-def]
    piece,
    places,
    start,
    first,
    count,
    stride,
    heads,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    OUT: tl.constexpr,
):
    """A block of ``count`` values of one head of keys or values; ``stride`` values of a head."""
    part = tl.program_id(0).to(tl.int64)
    layer, kind, head = part // (2 * heads), part // heads % 2, part % heads
    buffer = tl.load(places + layer * 3 + kind).to(tl.pointer_type(piece.dtype.element_ty))
    capacity = tl.load(places + layer * 3 + 2)
    values = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    real = values < count
    held = buffer + (head * capacity + start) * WIDTH + values
    apart = piece + part * stride + first * WIDTH + values
    if OUT:
        tl.store(apart, tl.load(held, mask=real), mask=real)
    else:
        tl.store(held, tl.load(apart, mask=real), mask=real)
