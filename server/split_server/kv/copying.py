"""Copies keys and values out of a session's cache, and into one.

Whoever calls this sees to it that no step of the session runs meanwhile: the model's thread after
its pass, or any other while the session has no step under way. Between a GPU and the host they are
copied in the order of the GPU's own work, while the calling thread goes on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch

from split_server.kv.buffers import Shape
from split_server.kv.cache import KVCache
from split_server.kv.quantise import SCALE_DTYPE, expand, parts_of, quantise, scale_shape
from split_server.kv.run import Span, new_coded_slab, new_slab, whole_slab

_HOST = torch.device("cpu")


class Copied(NamedTuple):
    """``layers`` of a run, and their ``scales`` where they are whole numbers; ``done`` when they
    are copied, None where they are already.
    """

    layers: list[torch.Tensor]
    done: torch.cuda.Event | None
    scales: Sequence[torch.Tensor] = ()


def copied(cache: KVCache, start: int, end: int, *, quantised: bool = False) -> Copied:
    """The positions from ``start`` to ``end`` of every layer, [2, kv_heads, n, head_dim] each;
    ``quantised``: as whole numbers.

    Raises what memory raises that is not there, RuntimeError, MemoryError, OSError, and NotFinite.
    """
    first = cache.like(0)
    if first.device.type == "cuda":
        return _fetched(cache, start, end, quantised=quantised)
    with torch.no_grad():
        rows = [cache.rows(index, start, end) for index in range(cache.depth)]
        shapes = _shapes(cache, end - start)
        if quantised:
            codes, scales = new_coded_slab(shapes, start)
            for own, *coded in zip(rows, codes, scales, strict=True):
                quantise(own.keys, own.values, start, parts_of(*coded))
            return Copied(codes, None, scales)
        slab = new_slab(shapes, first.dtype)
        for own, (keys, values) in zip(rows, slab, strict=True):
            keys.copy_(own.keys)
            values.copy_(own.values)
    return Copied(slab, None)


def copied_bytes(cache: KVCache, start: int, end: int, *, quantised: bool) -> int:
    """What :func:`copied` takes."""
    shapes = _shapes(cache, end - start)
    item = 1 if quantised else cache.like(0).dtype.itemsize
    size = sum(item * math.prod(shape) for shape in shapes)
    if quantised:
        scales = (scale_shape(h, width, start, end) for _, h, _, width in shapes)
        size += SCALE_DTYPE.itemsize * sum(map(math.prod, scales))
    return size


def _shapes(cache: KVCache, count: int) -> list[Shape]:
    shapes: list[Shape] = []
    for index in range(cache.depth):
        _, heads, _, width = cache.like(index).shape
        shapes.append((2, heads, count, width))
    return shapes


def _fetched(cache: KVCache, start: int, end: int, *, quantised: bool) -> Copied:
    from split_server.kv.gpu_copying import gathered

    scales: list[torch.Tensor] = []
    with torch.no_grad():
        piece = gathered(cache, start, end)
        shapes = [piece.shape[1:]] * len(piece)
        if quantised:
            slab, scales = new_coded_slab(shapes, start, pinned=True)
            codes, numbers = (_on(piece.device, whole_slab(part)) for part in (slab, scales))
            quantise(piece[:, 0], piece[:, 1], start, parts_of(codes, numbers))
            whole_slab(scales).copy_(numbers, non_blocking=True)
            piece = codes
        else:
            slab = new_slab(shapes, piece.dtype, pinned=True)
        whole_slab(slab).copy_(piece, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record(torch.cuda.current_stream(piece.device))
    return Copied(slab, done, scales)


def _on(device: torch.device, like: torch.Tensor) -> torch.Tensor:
    return torch.empty(like.shape, dtype=like.dtype, device=device)


def adopt(
    cache: KVCache,
    start: int,
    spans: Sequence[Span],
    room: int,
    device: torch.device = _HOST,
) -> None:
    """Keep ``start`` positions of ``cache`` and append those of ``spans`` behind them, which its
    lineage tells; ``room``: positions that it will hold soon; ``device``: where it holds them.

    The spans go on from one another, and the first holds ``start`` or begins with it. When it
    fails, the cache holds ``start`` positions.
    """
    end = spans[-1].end
    cache.truncate(start)
    try:
        with torch.no_grad():
            for span in spans:
                first = max(span.start, start)
                if device.type == "cuda":
                    _send(cache, span, first, room, device)
                elif span.run.scales:
                    _expand(cache, span, first, room)
                else:
                    _append(cache, span, first, room)
                cache.lineage.took_in(span.run.tier, first)
    except BaseException:
        cache.truncate(start)
        raise
    cache.adopted_to(end)


def _append(cache: KVCache, span: Span, start: int, room: int) -> None:
    first, last = start - span.run.start, span.end - span.run.start
    room = cache.own(room)
    for index, (keys, values) in enumerate(span.run.layers):
        part = slice(first, last)
        cache.layer(index).append(keys[None, :, part], values[None, :, part], room=room)


def _expand(cache: KVCache, span: Span, start: int, room: int) -> None:
    """:func:`_append` of whole numbers, which are worked out where they are needed."""
    run, end = span.run, span.end
    first, last = cache.own(start), cache.own(end)
    for index, codes in enumerate(run.layers):
        _, heads, _, width = codes.shape
        layer = cache.layer(index)
        like = torch.empty((1, heads, 0, width), dtype=run.dtype)
        layer.reserve(max(cache.own(room), last), like)
        keys, values = (buffer[0, :, first:last] for buffer in layer.buffers or ())
        run.expand(index, start, end, keys, values)
        layer.written(last)


def _send(cache: KVCache, span: Span, start: int, room: int, device: torch.device) -> None:
    from split_server.kv.gpu_copying import scatter

    run = span.run
    heads, width = run.layers[0].shape[1], run.layers[0].shape[3]
    like = torch.empty((1, heads, 1, width), dtype=run.dtype, device=device)
    for index in range(len(run.layers)):
        cache.layer(index).reserve(max(room, span.end), like)
    piece = whole_slab(run.layers).to(device, non_blocking=True)
    first, last = start - run.start, span.end - run.start
    if run.scales:
        scales = whole_slab(run.scales).to(device, non_blocking=True)
        shape = (len(run.layers), 2, heads, last - first, width)
        rows = torch.empty(shape, dtype=run.dtype, device=device)
        coded = parts_of(piece, scales)
        expand(coded, run.start, start, span.end, rows[:, 0], rows[:, 1])
        piece, first, last = rows, 0, last - first
    scatter(cache, start, piece, first, last)
