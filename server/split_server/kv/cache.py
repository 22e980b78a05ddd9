"""The KV cache of one session: a Hugging Face DynamicCache that can be truncated to any length."""

from __future__ import annotations

from transformers import DynamicCache


class KVCache:
    """Keys and values per layer, [1, kv_heads, positions, head_dim] each.

    Built without the model's config, so that sliding-window layers keep every position too: a
    window layer cannot be rolled back past its window.
    """

    def __init__(self) -> None:
        self.layers = DynamicCache()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def grown_to(self, length: int) -> None:
        """Every layer now holds ``length`` positions."""
        self._length = length

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; layers that hold fewer are left as they are."""
        self._length = min(self._length, length)
        for layer in self.layers.layers:
            if layer.is_initialized:
                layer.keys = layer.keys[:, :, :length]
                layer.values = layer.values[:, :, :length]
