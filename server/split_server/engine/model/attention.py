"""Attention of one session's new rows over its own cached keys and values.

Keys and values are [1, kv_heads, L, D]; the new rows are the last of the L positions, their own
keys and values among them. Query heads come in kv_heads groups of ``rep`` heads that share keys
(grouped-query attention, Ainslie et al. 2023). ``window``: each position sees that many, itself
included (Beltagy et al. 2020); ``softcap``: scores s become softcap * tanh(s / softcap) (Gemma 2,
2024).
"""

from __future__ import annotations

import torch
from torch.nn import functional

# Scores that the soft-capped path holds at once, in values per query head.
_SCORES_AT_ONCE = 1 << 18
# Up to so many rows, reading keys once per group of heads saves more than the longer mask costs.
_FEW_ROWS = 64


def attend_one(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scaling: float,
    window: int | None = None,
    softcap: float | None = None,
) -> torch.Tensor:
    """The row of the last position: query and result [1, kv_heads, rep, D].

    Heads that share keys are the rows of one product, so that each key is read once; without it the
    CPU kernel for one grouped query is an order of magnitude slower.
    """
    if window is not None and keys.shape[2] > window:
        keys, values = keys[:, :, -window:], values[:, :, -window:]
    if softcap is None:
        return functional.scaled_dot_product_attention(query, keys, values, scale=scaling)
    return _weighted(_softcapped(query, keys, scaling, softcap), values)


def attend_many(
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
    rows, length = query.shape[2], keys.shape[2]
    first = 0 if window is None else max(0, length - rows - window + 1)
    if first:
        keys, values = keys[:, :, first:], values[:, :, first:]
    if softcap is not None:
        seen = visible(rows, keys.shape[2], window, query.device)
        return softcapped_rows(query, keys, values, scaling, seen, softcap)
    narrow = window is not None and window < length
    if rows == length and not narrow:
        return functional.scaled_dot_product_attention(
            query, keys, values, is_causal=True, scale=scaling, enable_gqa=True
        )
    masks = masks or Masks()
    if rows <= _FEW_ROWS:
        return _folded(query, keys, values, scaling, masks, window if narrow else None)
    mask = masks.additive(query, keys.shape[2], window if narrow else None)
    return functional.scaled_dot_product_attention(
        query, keys, values, mask, scale=scaling, enable_gqa=True
    )


def _folded(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scaling: float,
    masks: Masks,
    window: int | None,
) -> torch.Tensor:
    """Heads that share keys as rows of one product, so that the kernel prepares each key once."""
    _, heads, rows, width = query.shape
    kv_heads = keys.shape[1]
    rep = heads // kv_heads
    folded = query.reshape(1, kv_heads, rep * rows, width)
    mask = masks.repeated(query, keys.shape[2], window, rep)
    out = functional.scaled_dot_product_attention(folded, keys, values, mask, scale=scaling)
    return out.reshape(1, heads, rows, width)


class Masks:
    """The masks of one packed pass: all layers of a kind share one."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, int | None], torch.Tensor] = {}
        self._repeated: dict[tuple[int, int, int | None], torch.Tensor] = {}

    def additive(self, query: torch.Tensor, length: int, window: int | None) -> torch.Tensor:
        """[n, length] in the query's dtype: 0 where a row may look, minus infinity elsewhere."""
        key = (query.shape[2], length, window)
        mask = self._known.get(key)
        if mask is None:
            hidden = ~visible(query.shape[2], length, window, query.device)
            mask = torch.zeros(hidden.shape, dtype=query.dtype, device=query.device)
            self._known[key] = mask.masked_fill_(hidden, float("-inf"))
        return mask

    def repeated(
        self, query: torch.Tensor, length: int, window: int | None, rep: int
    ) -> torch.Tensor:
        """:meth:`additive` ``rep`` times below itself, [rep * n, length]."""
        key = (query.shape[2], length, window)
        mask = self._repeated.get(key)
        if mask is None:
            mask = self._repeated[key] = self.additive(query, length, window).repeat(rep, 1)
        return mask


def visible(rows: int, length: int, window: int | None, device: torch.device) -> torch.Tensor:
    """[rows, length]: may the k-th of the last ``rows`` positions look at a position."""
    positions = torch.arange(length, device=device)
    own = positions[length - rows :, None]
    seen = positions <= own
    return seen if window is None else seen & (positions > own - window)


def _softcapped(
    query: torch.Tensor, keys: torch.Tensor, scaling: float, softcap: float
) -> torch.Tensor:
    """Soft-capped scores [1, kv_heads, q, L] of queries [1, kv_heads, q, D]."""
    scores = torch.matmul(query, keys.transpose(2, 3)) * scaling
    return torch.tanh(scores / softcap) * softcap


def _weighted(scores: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(values.dtype)
    return torch.matmul(weights, values)


def softcapped_rows(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scaling: float,
    seen: torch.Tensor,
    softcap: float,
) -> torch.Tensor:
    """:func:`attend_many` with capped scores; ``seen`` [n, L]: which row sees which position. No
    kernel caps scores, so they are materialised, a block of rows at a time.
    """
    _, heads, rows, width = query.shape
    kv_heads, length = keys.shape[1], keys.shape[2]
    rep = heads // kv_heads
    block = max(1, _SCORES_AT_ONCE // length)
    grouped = query.view(1, kv_heads, rep, rows, width)
    out = []
    for first in range(0, rows, block):
        part = grouped[:, :, :, first : first + block]
        count = part.shape[3]
        scores = _softcapped(part.reshape(1, kv_heads, rep * count, width), keys, scaling, softcap)
        hidden = ~seen[first : first + block].repeat(rep, 1)
        attended = _weighted(scores.masked_fill_(hidden, float("-inf")), values)
        out.append(attended.view(1, heads, count, width))
    return torch.cat(out, dim=2)
