"""Rows over shared and own positions are those of one attention over all of them."""

from __future__ import annotations

import pytest
import torch

from split_server.engine.model.attention import Masks, visible
from split_server.engine.model.shared import Own, attend_shared

_SCALING = 0.3


def expected(own: Own, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """In float64, head by head: [1, n, heads, D]."""
    whole_keys = torch.cat((keys, own.keys), 2).double()
    whole_values = torch.cat((values, own.values), 2).double()
    rep = own.query.shape[1] // keys.shape[1]
    whole_keys, whole_values = (x.repeat_interleave(rep, 1) for x in (whole_keys, whole_values))
    scores = own.query.double() @ whole_keys.transpose(2, 3) * _SCALING
    seen = visible(own.query.shape[2], whole_keys.shape[2], None, keys.device)
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return (weights @ whole_values).transpose(1, 2)


@pytest.mark.parametrize(
    ("dtype", "close"), [(torch.float32, 2e-6), (torch.bfloat16, 2e-2), (torch.float16, 2e-3)]
)
@pytest.mark.parametrize("rep", [1, 7])
def test_both_parts_together_are_one_attention(dtype: torch.dtype, close: float, rep: int) -> None:
    torch.manual_seed(4)
    kv_heads, width, shared = 2, 16, 40

    def random(heads: int, positions: int) -> torch.Tensor:
        return torch.randn(1, heads, positions, width).to(dtype)

    keys, values = random(kv_heads, shared), random(kv_heads, shared)
    sessions = [
        Own(random(rep * kv_heads, rows), random(kv_heads, length), random(kv_heads, length))
        for rows, length in ((1, 1), (1, 33), (5, 5), (3, 17))
    ]
    found = attend_shared(keys, values, sessions, _SCALING, Masks())
    for own, rows in zip(sessions, found, strict=True):
        right = expected(own, keys, values)
        assert rows.shape == right.shape
        assert (rows.double() - right).abs().max() < close
