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

    def __len__(self) -> int:
        return int(self.layers.get_seq_length())

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; layers that hold fewer are left as they are."""
        for layer in self.layers.layers:
            if layer.is_initialized:
                layer.keys = layer.keys[:, :, :length]
                layer.values = layer.values[:, :, :length]
