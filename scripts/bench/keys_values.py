"""Keys and values that no prefill made: what a step costs does not depend on what they say."""

from __future__ import annotations

from typing import Any

import torch


def random_keys_values(
    config: Any, layer: int, positions: int, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Seeded keys and values [1, kv_heads, positions, head_dim] of one layer."""
    heads = config.num_key_value_heads
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    generator = torch.Generator().manual_seed(layer)
    both = torch.randn(2, 1, heads, positions, width, generator=generator).to(dtype)
    return both[0], both[1]
