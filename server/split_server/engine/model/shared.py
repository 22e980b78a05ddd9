"""Attention of several sessions whose first positions are the same keys and values.

The queries of all of them are one product over what they share, each session's own positions one
of their own, and the two parts of a row are merged by the logarithms of their sums of exponentials
(Milakov and Gimelshein 2018, https://arxiv.org/abs/1805.02867; for shared prefixes Juravsky et al.
2024, https://arxiv.org/abs/2402.05099). It is another order of the same sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from split_server.engine.model.attention import Masks


class Part(NamedTuple):
    """What a kernel gave for queries over some positions: ``out`` [1, kv_heads, q, D], and of each
    the logarithm of its sum of exponentials [1, kv_heads, q].
    """

    out: torch.Tensor
    logsum: torch.Tensor


class Own(NamedTuple):
    """A session's ``query`` [1, heads, n, D], and the ``keys`` and ``values`` behind the shared
    ones, [1, kv_heads, L, D], of which the last n are the query's own.
    """

    query: torch.Tensor
    keys: torch.Tensor
    values: torch.Tensor


def attend_shared(
    keys: torch.Tensor,
    values: torch.Tensor,
    sessions: Sequence[Own],
    scaling: float,
    masks: Masks,
) -> list[torch.Tensor]:
    """The rows of each session, [1, n, heads, D], over the shared ``keys`` and ``values``
    [1, kv_heads, S, D] and its own.
    """
    kv_heads = keys.shape[1]
    folded = [_folded(own.query, kv_heads) for own in sessions]
    shared = _part(_joined(folded), keys, values, scaling)
    parts = [_own(own, query, scaling, masks) for own, query in zip(sessions, folded, strict=True)]
    behind = Part(_joined([part.out for part in parts]), _joined([part.logsum for part in parts]))
    rows = torch.split(_merged(shared, behind), [query.shape[2] for query in folded], 2)
    return [_unfolded(part, own.query) for part, own in zip(rows, sessions, strict=True)]


def _joined(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """One after the other along their rows."""
    return tensors[0] if len(tensors) == 1 else torch.cat(list(tensors), 2)


def _own(own: Own, query: torch.Tensor, scaling: float, masks: Masks) -> Part:
    """Of the folded ``query`` over the session's own positions."""
    rows, mask = own.query.shape[2], None
    if rows > 1:
        rep = own.query.shape[1] // own.keys.shape[1]
        mask = masks.repeated(own.query, own.keys.shape[2], None, rep)
    return _part(query, own.keys, own.values, scaling, mask)


def _part(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scaling: float,
    mask: torch.Tensor | None = None,
) -> Part:
    # What scaled_dot_product_attention calls on a CPU; it keeps the sums to itself.
    return Part(
        *torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, keys, values, 0.0, False, attn_mask=mask, scale=scaling
        )
    )


def _merged(one: Part, other: Part) -> torch.Tensor:
    weight = torch.sigmoid(one.logsum - other.logsum).unsqueeze(-1)
    return torch.lerp(other.out.float(), one.out.float(), weight).to(one.out.dtype)


def _folded(query: torch.Tensor, kv_heads: int) -> torch.Tensor:
    """[1, heads, n, D] as [1, kv_heads, rep * n, D]."""
    _, heads, rows, width = query.shape
    return query.reshape(1, kv_heads, heads // kv_heads * rows, width)


def _unfolded(rows: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
    """[1, kv_heads, rep * n, D] as [1, n, heads, D]."""
    return rows.reshape(1, query.shape[1], query.shape[2], -1).transpose(1, 2)
