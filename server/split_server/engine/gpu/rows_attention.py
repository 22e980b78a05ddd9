"""Attention of several new rows of one session with the fused kernels that CUDA has.

As ``engine.model.attention``, whose way around grouped heads and masks no fused kernel of CUDA
takes: without one, all scores would be held at once.
"""

from __future__ import annotations

import torch
from torch.nn import functional
from torch.nn.attention.bias import causal_lower_right

from split_server.engine.model.attention import Masks, attend_many

# Dtypes that FlashAttention computes, with grouped heads and a diagonal that ends at the last key.
_FLASH = (torch.bfloat16, torch.float16)


def attend_rows(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scaling: float,
    window: int | None = None,
    softcap: float | None = None,
    masks: Masks | None = None,
) -> torch.Tensor:
    """The rows of the last n positions: query and result [1, heads, n, D], each seeing what is
    before it.
    """
    if softcap is not None:
        return attend_many(query, keys, values, scaling, window, softcap, masks)
    rows, length = query.shape[2], keys.shape[2]
    narrow = window is not None and window < length
    if query.dtype in _FLASH and not narrow:
        # A mask in name only: the kernel is told which diagonal, and holds no mask.
        diagonal = causal_lower_right(rows, length)
        return functional.scaled_dot_product_attention(
            query, keys, values, diagonal, scale=scaling, enable_gqa=True
        )
    first = max(0, length - rows - window + 1) if window is not None and narrow else 0
    rep = query.shape[1] // keys.shape[1]
    keys = keys[:, :, first:].repeat_interleave(rep, 1)
    values = values[:, :, first:].repeat_interleave(rep, 1)
    mask = (masks or Masks()).additive(query, length - first, window if narrow else None)
    return functional.scaled_dot_product_attention(query, keys, values, mask, scale=scaling)
