"""Rows of a session's cache at any positions behind its beginning, read and written in place.

For caches that hold a row at each of those positions. On whichever thread the model runs.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from split_server.kv.cache import KVCache
from split_server.kv.lineage import Moved
from split_server.kv.moving.splice import Lifted, cut
from split_server.kv.visible.cold import hidden_among
from split_wire.splice import gaps


def lay_out(
    cache: KVCache, start: int, copies: Sequence[Lifted], rows: int, way: Moved = "blended"
) -> None:
    """Keep ``start`` positions of ``cache`` and put ``copies`` at their new places; the positions
    between them and behind, for which there are ``rows``, hold rows that mean nothing. When it
    fails, ``start`` positions are held.

    Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
    """
    spans = [copy.span for copy in copies]
    end = start + rows + sum(span.rows for span in spans)
    missing = [last - first for first, last in gaps(start, spans, rows)]
    cut(cache, start, end)
    try:
        with torch.no_grad():
            for index in range(len(copies[0].layers)):
                for copy, count in zip([*copies, None], missing, strict=True):
                    _append(cache, index, copy or copies[0], count, end, whole=copy is not None)
    except BaseException:
        cache.truncate(start)
        raise
    cache.lineage.moved_behind(spans[0].new, way)
    cache.grown_to(end)


def _append(
    cache: KVCache, index: int, copy: Lifted, missing: int, end: int, *, whole: bool
) -> None:
    """``missing`` rows of zeros, and then the ``whole`` copy, behind those of a layer."""
    layer, room = cache.layer(index), cache.own(end)
    if missing:
        empty = [
            part.new_zeros(1, part.shape[0], missing, part.shape[2]) for part in copy.layers[index]
        ]
        layer.append(*empty, room=room)
    if whole:
        keys, values = copy.layers[index]
        layer.append(keys[None], values[None], room=room)


class Scattered:
    """The rows of ``cache`` at ``positions``, ascending int64 [n], all of them behind what it has
    in common with others and behind what is hidden in it.
    """

    def __init__(self, cache: KVCache, positions: torch.Tensor) -> None:
        first, self._end = int(positions[0]), int(positions[-1]) + 1
        self._cache = cache
        self._own = positions - (first - cache.own(first))
        if cache.hidden:
            places = (~hidden_among(cache.hidden, self._end)).nonzero()[:, 0]
        else:
            places = torch.arange(self._end)
        # Of the rows that :meth:`seen` gives.
        self.places = places.to(positions.device)

    def write(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Put rows [1, kv_heads, n, head_dim] there."""
        held = self._cache.layer(layer)
        held.keys[0].index_copy_(1, self._own, keys[0])
        held.values[0].index_copy_(1, self._own, values[0])

    def values(self, layer: int) -> torch.Tensor:
        """Those that are there, [kv_heads, n, head_dim]."""
        found: torch.Tensor = self._cache.layer(layer).values[0].index_select(1, self._own)
        return found

    def seen(self, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values [1, kv_heads, seen, head_dim] of all rows up to the last of them that
        anything sees, at :attr:`places`.
        """
        cache, end = self._cache, self._end
        if cache.hidden:
            held, count = cache.layer(layer), cache.own(end)
            return held.keys[:, :, :count], held.values[:, :, :count]
        keys, values = cache.rows(layer, 0, end)
        return keys[None], values[None]
