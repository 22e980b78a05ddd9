"""The KV cache of one session: growing layers that can be truncated to any length."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple
from weakref import WeakSet

import torch
from transformers import DynamicCache

from split_server.kv.buffers import BufferPool
from split_server.kv.capacity import capacity_for, capacity_within
from split_server.kv.growing import GrowingLayer
from split_server.kv.lineage import Lineage
from split_server.kv.session_cache import SessionCache
from split_server.kv.visible.cold import Cold, hidden_among, new_cold, position_bytes
from split_wire.hiding.spans import Spans, count, cut


class Rows(NamedTuple):
    """Keys and values of some positions of a layer, [kv_heads, n, head_dim] each."""

    keys: torch.Tensor
    values: torch.Tensor


class KVCache(DynamicCache):  # type: ignore[misc]
    """Keys and values per layer, [1, kv_heads, positions, head_dim] each.

    A cache of Hugging Face's as far as ``generate`` and ``crop`` go, for one sequence. It is built
    without the model's config, so that sliding-window layers keep every position too: a window
    layer cannot be rolled back past its window. ``pool``: where the buffers come from and go to;
    without one they are freed. ``lineage``: which of the rows stand on rows that are not exact.

    The first :attr:`shared` positions may lie in another cache, :attr:`base`, which several have
    in common and nobody writes to meanwhile; the layers then hold what follows. Rows of
    :attr:`hidden` positions lie apart, and the layers hold the others, in their order. ``generate``
    knows nothing of either.
    """

    layers: list[GrowingLayer]

    def __init__(self, pool: BufferPool | None = None) -> None:
        super().__init__()
        self._pool = BufferPool(0) if pool is None else pool
        # No reference to the cache itself: its buffers are free when the last user lets go of it.
        self.layer_class_to_replicate = partial(GrowingLayer, self._pool)
        self._length = 0
        self._base: KVCache | None = None
        self._shared = 0
        self._cold = Cold()
        # The caches whose first positions lie here.
        self.users: WeakSet[KVCache] = WeakSet()
        # Memory is set aside for all positions: :meth:`unshare` comes next.
        self.leaving = False
        self.lineage = Lineage()

    @property
    def base(self) -> KVCache | None:
        """The cache that has the first :attr:`shared` positions; None where the layers have all."""
        return self._base

    @property
    def shared(self) -> int:
        """How many of the first positions lie in :attr:`base`."""
        return self._shared

    @property
    def length(self) -> int:
        """Positions that every layer holds, as :meth:`grown_to` and :meth:`truncate` leave them."""
        return self._length

    @property
    def capacity(self) -> int:
        """Positions that the buffers of every layer hold, with those that are shared."""
        held = min((layer.capacity for layer in self.layers), default=0)
        return self._shared + held + self._cold.positions

    @property
    def hidden(self) -> Spans:
        """The positions whose rows no later row sees."""
        return self._cold.spans

    @property
    def cold_bytes(self) -> int:
        """Bytes of their keys and values."""
        return self._cold.size

    @property
    def depth(self) -> int:
        """How many layers it has."""
        return len(self.layers) if self._base is None else self._base.depth

    def like(self, index: int) -> torch.Tensor:
        """Keys [1, kv_heads, n, head_dim] of some positions of a layer that holds any."""
        keys: torch.Tensor | None = self.layers[index].keys if index < len(self.layers) else None
        if keys is not None:
            return keys
        if self._base is None:
            raise IndexError(index)
        return self._base.like(index)

    def own(self, positions: int) -> int:
        """How many of the first ``positions`` the layers hold or are to hold."""
        if self.leaving:
            return positions
        return max(positions - self._shared, 0) - self._cold.below(positions)

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all buffers, and of what is hidden."""
        return sum(layer.allocated_bytes for layer in self.layers) + self._cold.size

    @property
    def exchanges(self) -> int:
        """Grows whenever a buffer of a layer is another one than before."""
        return sum(layer.exchanges for layer in self.layers)

    def layer(self, index: int) -> GrowingLayer:
        """The layer with that index; it is made when it is new."""
        layers = self.layers
        while len(layers) <= index:
            layers.append(GrowingLayer(self._pool))
        return layers[index]

    def append(
        self, index: int, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Copy rows [1, kv_heads, n, head_dim] behind those of a layer; all that it has then, which
        is a copy where some are shared.
        """
        held = self.layer(index).append(keys, values)
        if self._base is None:
            return held
        first = self._base.rows(index, 0, self._shared)
        return (
            torch.cat((first.keys[None], held[0]), 2),
            torch.cat((first.values[None], held[1]), 2),
        )

    def rows(self, index: int, start: int, end: int) -> Rows:
        """Those from ``start`` to ``end`` of the layer with that index, wherever they lie."""
        if self._cold:
            return self._gathered(index, start, end)
        base, shared = self._base, self._shared
        if base is None or start >= shared:
            layer, part = self.layers[index], slice(start - shared, end - shared)
            return Rows(layer.keys[0, :, part], layer.values[0, :, part])
        first = base.rows(index, start, min(end, shared))
        if end <= shared:
            return first
        behind = self.rows(index, shared, end)
        return Rows(*(torch.cat(both, 1) for both in zip(first, behind, strict=True)))

    def _gathered(self, index: int, start: int, end: int) -> Rows:
        """:meth:`rows` where some are hidden."""
        cold, layer = self._cold, self.layers[index]
        seen, apart = (
            slice(self.own(start), self.own(end)),
            slice(cold.below(start), cold.below(end)),
        )
        if apart.start == apart.stop:
            return Rows(layer.keys[0, :, seen], layer.values[0, :, seen])
        hidden, found = cold.among(start, end), []
        for kept, apart_rows in zip((layer.keys, layer.values), cold.layers[index], strict=True):
            rows = kept.new_empty(kept.shape[1], end - start, kept.shape[3])
            rows[:, ~hidden] = kept[0, :, seen]
            rows[:, hidden] = apart_rows[:, apart].to(kept.device)
            found.append(rows)
        return Rows(*found)

    def hide(self, spans: Spans) -> None:
        """Have the rows of ``spans``, and no others, apart: rows that follow do not see them, and
        all that are held stay bit for bit what they are. When it fails, nothing has changed.

        Raises what memory raises that is not there: RuntimeError, MemoryError, OSError.
        """
        spans, length = cut(spans, self._length), self._length
        if spans == self._cold.spans:
            return
        with torch.no_grad():
            cold, layers = new_cold(spans, self._shapes(), self.like(0).dtype), []
            hidden = hidden_among(spans, length).to(self.like(0).device)
            apart, seen = hidden.nonzero()[:, 0], (~hidden).nonzero()[:, 0]
            for index in range(self.depth):
                rows = self.rows(index, 0, length)
                layers.append(GrowingLayer(self._pool))
                layers[-1].append(*(part[None].index_select(2, seen) for part in rows))
                if cold:
                    for part, copy in zip(rows, cold.layers[index], strict=True):
                        copy.copy_(part.index_select(1, apart))
        self._release_layers(layers)
        self._leave_base()
        self._cold = cold

    def hiding_bytes(self, spans: Spans) -> int:
        """Bytes that :meth:`hide` takes while it runs, beside those that are held."""
        if not self._length or not self.depth:
            return 0
        hidden = count(cut(spans, self._length))
        positions = capacity_for(self._length - hidden) + hidden
        return positions * position_bytes(self._shapes(), self.like(0).dtype)

    def _shapes(self) -> list[tuple[int, ...]]:
        """[kv_heads, head_dim] of each layer."""
        rows = (self.like(index) for index in range(self.depth))
        return [(keys.shape[1], keys.shape[3]) for keys in rows]

    def share(self, base: KVCache, end: int) -> None:
        """Have the first ``end`` positions in ``base``, which holds the same or those that are to
        be taken in; what the layers hold behind them stays. When it fails, nothing has changed.
        """
        behind = self._copied(end, self._length) if self._length > end else []
        self._release_layers(behind)
        self._leave_base()
        self._base, self._shared, self._length = base, end, max(self._length, end)
        base.users.add(self)

    def unshare(self) -> None:
        """Have all positions in the layers. When it fails, nothing has changed."""
        if self._base is not None:
            whole = self._copied(0, self._length)
            self._release_layers(whole)
            self._leave_base()

    def _copied(self, start: int, end: int) -> list[GrowingLayer]:
        """New layers that hold the positions from ``start`` to ``end``."""
        copies = []
        with torch.no_grad():
            for index in range(self.depth):
                layer = GrowingLayer(self._pool)
                copies.append(layer)
                for first, last in self._pieces(start, end):
                    keys, values = self.rows(index, first, last)
                    layer.append(keys[None], values[None], room=end - start)
        return copies

    def _pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The positions from ``start`` to ``end``, by where they lie."""
        for first, last in ((start, min(end, self._shared)), (max(start, self._shared), end)):
            if first < last:
                yield first, last

    def _release_layers(self, others: list[GrowingLayer]) -> None:
        """Give the layers' buffers back and have ``others`` in their place."""
        for layer in self.layers:
            layer.release()
        if others:
            self.layers[:] = others

    def _leave_base(self) -> None:
        if self._base is not None:
            self._base.users.discard(self)
        self._base, self._shared, self.leaving = None, 0, False

    def grown_to(self, length: int) -> None:
        """Every layer now holds ``length`` positions; a pass has computed the last ones."""
        if self._cold and length > self._length:
            self.lineage.computed_apart(self._length)
        self._length = length

    def adopted_to(self, length: int) -> None:
        """Every layer now holds ``length`` positions, of which the last ones were taken in."""
        self._length = length

    def reserve(self, end: int) -> None:
        """Have buffers for ``end`` positions in every layer that has any."""
        for layer in self.layers:
            layer.reserve(self.own(end))

    def written(self, end: int) -> None:
        """Rows up to ``end`` were written into the buffers of every layer, which is yet to be
        told by :meth:`grown_to`.
        """
        for layer in self.layers:
            layer.written(self.own(end))

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; layers that hold fewer are left as they are."""
        self._length = min(self._length, length)
        if length < self._shared:
            # Less of the same positions: nothing has to be copied.
            self._shared = length
        self.lineage.cut(length)
        for layer in self.layers:
            layer.truncate(length - self._shared - self._cold.below(length))
        self._cold = self._cold.cut(length)
        if not self._shared:
            self._leave_base()

    def crop(self, tokens_to_remove: int) -> None:
        """Drop the last ``-tokens_to_remove`` positions, as Hugging Face asks for it."""
        super().crop(tokens_to_remove)
        self._length = min(self._length, self.get_seq_length())
        self.lineage.cut(self._length)

    def reset(self) -> None:
        """Hold nothing, as Hugging Face asks for it."""
        self.release()

    def release(self) -> None:
        """Give all buffers to the pool; the cache is empty and may be used again."""
        self._length = 0
        self.lineage.cut(0)
        self._cold = Cold()
        self._release_layers([])
        self._leave_base()


def buffered(cache: SessionCache) -> KVCache:
    """``cache`` as the torch engine has it, with layers. Raises TypeError for another engine's."""
    if not isinstance(cache, KVCache):
        raise TypeError(f"{type(cache).__name__} has no layers")
    return cache


class BufferCaches:
    """Caches over ``pool``, in the size classes of its buffers."""

    def __init__(self, pool: BufferPool) -> None:
        self._pool = pool

    def new(self) -> SessionCache:
        """An empty one."""
        return KVCache(self._pool)

    def capacity_for(self, positions: int) -> int:
        """Positions that the buffers of a cache with ``positions`` hold."""
        return capacity_for(positions)

    def capacity_within(self, positions: int) -> int:
        """The largest buffers of at most ``positions``."""
        return capacity_within(positions)
