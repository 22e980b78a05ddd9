"""Copies keys and values out of a session's cache, and into one.

Whoever calls this sees to it that no step of the session runs meanwhile: the model's thread after
its pass, or any other while the session has no step under way.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from split_server.kv.cache import KVCache
from split_server.kv.run import Span, new_slab


def copied(cache: KVCache, start: int, end: int) -> list[torch.Tensor]:
    """The positions from ``start`` to ``end`` of every layer, [2, kv_heads, n, head_dim] each.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    first = cache.layers[0].keys
    shapes = []
    for layer in cache.layers:
        _, heads, _, width = layer.keys.shape
        shapes.append((2, heads, end - start, width))
    with torch.no_grad():
        slab = new_slab(shapes, first.dtype)
        for layer, (keys, values) in zip(cache.layers, slab, strict=True):
            keys.copy_(layer.keys[0, :, start:end])
            values.copy_(layer.values[0, :, start:end])
    return slab


def adopt(cache: KVCache, start: int, spans: Sequence[Span], room: int) -> None:
    """Keep ``start`` positions of ``cache`` and append those of ``spans`` behind them; ``room``:
    positions that it will hold soon.

    The spans go on from one another, and the first holds ``start`` or begins with it. When it
    fails, the cache holds ``start`` positions.
    """
    end = spans[-1].end
    cache.truncate(start)
    try:
        with torch.no_grad():
            for span in spans:
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
