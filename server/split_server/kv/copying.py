"""Copies keys and values out of a session's cache, and into one.

Whoever calls this sees to it that no step of the session runs meanwhile: the model's thread after
its pass, or any other while the session has no step under way. Between a GPU and the host they are
copied in the order of the GPU's own work, while the calling thread goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from split_server.kv.cache import KVCache
from split_server.kv.run import Span, new_slab, whole_slab

_HOST = torch.device("cpu")


class Copied(NamedTuple):
    """``layers`` of a run; ``done`` when they are copied, None where they are already."""

    layers: list[torch.Tensor]
    done: torch.cuda.Event | None


def copied(cache: KVCache, start: int, end: int) -> Copied:
    """The positions from ``start`` to ``end`` of every layer, [2, kv_heads, n, head_dim] each.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    first = cache.rows(0, start, end).keys
    if first.device.type == "cuda":
        return _fetched(cache, start, end)
    with torch.no_grad():
        rows = [cache.rows(index, start, end) for index in range(len(cache.layers))]
        slab = new_slab([(2, *own.keys.shape) for own in rows], first.dtype)
        for own, (keys, values) in zip(rows, slab, strict=True):
            keys.copy_(own.keys)
            values.copy_(own.values)
    return Copied(slab, None)


def _fetched(cache: KVCache, start: int, end: int) -> Copied:
    from split_server.kv.gpu_copying import gathered

    with torch.no_grad():
        piece = gathered(cache, start, end)
        slab = new_slab([piece.shape[1:]] * len(piece), piece.dtype, pinned=True)
        whole_slab(slab).copy_(piece, non_blocking=True)
    done = torch.cuda.Event()  # type: ignore[no-untyped-call]
    done.record(torch.cuda.current_stream(piece.device))
    return Copied(slab, done)


def adopt(
    cache: KVCache,
    start: int,
    spans: Sequence[Span],
    room: int,
    device: torch.device = _HOST,
) -> None:
    """Keep ``start`` positions of ``cache`` and append those of ``spans`` behind them; ``room``:
    positions that it will hold soon; ``device``: where it holds them.

    The spans go on from one another, and the first holds ``start`` or begins with it. When it
    fails, the cache holds ``start`` positions.
    """
    end = spans[-1].end
    cache.truncate(start)
    try:
        with torch.no_grad():
            for span in spans:
                if device.type == "cuda":
                    _send(cache, span, max(span.start, start), room, device)
                else:
                    _append(cache, span, max(span.start, start), room)
    except BaseException:
        cache.truncate(start)
        raise
    cache.grown_to(end)


def _append(cache: KVCache, span: Span, start: int, room: int) -> None:
    first, last = start - span.run.start, span.end - span.run.start
    for index, (keys, values) in enumerate(span.run.layers):
        part = slice(first, last)
        cache.layer(index).append(keys[None, :, part], values[None, :, part], room=room)


def _send(cache: KVCache, span: Span, start: int, room: int, device: torch.device) -> None:
    from split_server.kv.gpu_copying import scatter

    run = span.run
    heads, width = run.layers[0].shape[1], run.layers[0].shape[3]
    like = torch.empty((1, heads, 1, width), dtype=run.layers[0].dtype, device=device)
    for index in range(len(run.layers)):
        cache.layer(index).reserve(max(room, span.end), like)
    piece = whole_slab(run.layers).to(device, non_blocking=True)
    scatter(cache, start, piece, start - run.start, span.end - run.start)
