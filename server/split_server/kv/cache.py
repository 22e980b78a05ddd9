"""The KV cache of one session: growing layers that can be truncated to any length."""

from __future__ import annotations

from transformers import DynamicCache

from split_server.kv.buffers import BufferPool
from split_server.kv.capacity import capacity_for, capacity_within
from split_server.kv.growing import GrowingLayer
from split_server.kv.session_cache import SessionCache


class KVCache(DynamicCache):  # type: ignore[misc]
    """Keys and values per layer, [1, kv_heads, positions, head_dim] each.

    A cache of Hugging Face's as far as ``generate`` and ``crop`` go, for one sequence. It is built
    without the model's config, so that sliding-window layers keep every position too: a window
    layer cannot be rolled back past its window. ``pool``: where the buffers come from and go to;
    without one they are freed.
    """

    layers: list[GrowingLayer]

    def __init__(self, pool: BufferPool | None = None) -> None:
        super().__init__()
        self._pool = BufferPool(0) if pool is None else pool
        self.layer_class_to_replicate = lambda: GrowingLayer(self._pool)
        self._length = 0

    @property
    def length(self) -> int:
        """Positions that every layer holds, as :meth:`grown_to` and :meth:`truncate` leave them."""
        return self._length

    @property
    def capacity(self) -> int:
        """Positions that the buffers of every layer hold."""
        return min((layer.capacity for layer in self.layers), default=0)

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all buffers."""
        return sum(layer.allocated_bytes for layer in self.layers)

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

    def grown_to(self, length: int) -> None:
        """Every layer now holds ``length`` positions."""
        self._length = length

    def reserve(self, end: int) -> None:
        """Have buffers for ``end`` positions in every layer that has any."""
        for layer in self.layers:
            layer.reserve(end)

    def written(self, end: int) -> None:
        """Rows up to ``end`` were written into the buffers of every layer."""
        for layer in self.layers:
            layer.written(end)
        self._length = end

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; layers that hold fewer are left as they are."""
        self._length = min(self._length, length)
        for layer in self.layers:
            layer.truncate(length)

    def crop(self, tokens_to_remove: int) -> None:
        """Drop the last ``-tokens_to_remove`` positions, as Hugging Face asks for it."""
        super().crop(tokens_to_remove)
        self._length = min(self._length, self.get_seq_length())

    def reset(self) -> None:
        """Hold nothing, as Hugging Face asks for it."""
        self.release()

    def release(self) -> None:
        """Give all buffers to the pool; the cache is empty and may be used again."""
        self._length = 0
        for layer in self.layers:
            layer.release()


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
