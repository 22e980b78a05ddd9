"""The KV cache of one session: growing layers that can be truncated to any length."""

from __future__ import annotations

from transformers import DynamicCache

from split_server.kv.buffers import BufferPool
from split_server.kv.growing import GrowingLayer


class KVCache:
    """Keys and values per layer, [1, kv_heads, positions, head_dim] each.

    ``layers`` is a Hugging Face cache. It is built without the model's config, so that
    sliding-window layers keep every position too: a window layer cannot be rolled back past its
    window. ``pool``: where the buffers come from and go to; without one they are freed.
    """

    def __init__(self, pool: BufferPool | None = None) -> None:
        self._pool = BufferPool(0) if pool is None else pool
        self.layers = DynamicCache()
        self.layers.layer_class_to_replicate = lambda: GrowingLayer(self._pool)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def capacity(self) -> int:
        """Positions that the buffers of every layer hold."""
        return min((layer.capacity for layer in self._held()), default=0)

    @property
    def allocated_bytes(self) -> int:
        """Bytes of all buffers."""
        return sum(layer.allocated_bytes for layer in self._held())

    def layer(self, index: int) -> GrowingLayer:
        """The layer with that index; it is made when it is new."""
        layers = self._held()
        while len(layers) <= index:
            layers.append(GrowingLayer(self._pool))
        return layers[index]

    def grown_to(self, length: int) -> None:
        """Every layer now holds ``length`` positions."""
        self._length = length

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; layers that hold fewer are left as they are."""
        self._length = min(self._length, length)
        for layer in self._held():
            layer.truncate(length)

    def release(self) -> None:
        """Give all buffers to the pool; the cache is empty and may be used again."""
        self._length = 0
        for layer in self._held():
            layer.release()

    def _held(self) -> list[GrowingLayer]:
        layers: list[GrowingLayer] = self.layers.layers
        return layers
