"""One forward pass over the new rows of several sessions.

The rows of all sessions form one sequence [1, total, H] for everything that works row by row; only
attention knows whose they are. The decoder layers are Hugging Face's own: they call the attention
function that is registered here under :data:`PACKED_ATTENTION`, with the batch among its arguments.
The idea of mixing requests within one iteration is that of Orca (Yu et al., OSDI 2022), that of
mixing slices of a prefill with decode rows that of Sarathi (Agrawal et al., 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from transformers import AttentionInterface

from split_server.engine.attention import Masks, attend_many, attend_one
from split_server.kv.cache import KVCache

PACKED_ATTENTION = "split_packed"


class Tap(Protocol):
    """Watches the attention of a slice's last row."""

    def observe(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        scaling: float,
        sliding_window: int | None,
        softcap: float | None,
    ) -> None:
        """``query`` [kv_heads, rep, D] of the last position, ``keys`` [1, kv_heads, L, D]."""
        ...


@dataclass(eq=False, slots=True)
class Slice:
    """New rows of one session: keep ``start`` positions of ``cache``, append ``embeddings``
    [n, H].
    """

    cache: KVCache
    start: int
    embeddings: torch.Tensor
    tap: Tap | None = None

    @property
    def rows(self) -> int:
        """How many positions it appends."""
        return self.embeddings.shape[0]

    @property
    def end(self) -> int:
        """Positions that the cache holds afterwards."""
        return self.start + self.rows


class PackedBatch:
    """Slices of different sessions, in the order in which their rows are packed."""

    def __init__(self, slices: Sequence[Slice]) -> None:
        self.slices = slices
        self._sizes = [part.rows for part in slices]
        self._masks = Masks()
        self._decode = all(size == 1 for size in self._sizes)

    def embeddings(self) -> torch.Tensor:
        """[1, total, H]."""
        rows = [part.embeddings for part in self.slices]
        return (rows[0] if len(rows) == 1 else torch.cat(rows))[None]

    def positions(self, device: torch.device) -> torch.Tensor:
        """[1, total]: each row's position within its own session."""
        if self._decode:
            return torch.tensor([[part.start for part in self.slices]], device=device)
        spans = [torch.arange(part.start, part.end, device=device) for part in self.slices]
        return torch.cat(spans)[None]

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        scaling: float,
        window: int | None,
        softcap: float | None,
    ) -> torch.Tensor:
        """Append keys and values [1, kv_heads, total, D] to the sessions' caches and attend with
        the queries [1, heads, total, D]; the result is [1, total, heads, D].
        """
        heads, kv_heads, width = query.shape[1], keys.shape[1], query.shape[3]
        grouped = (1, kv_heads, heads // kv_heads, width)
        out = []
        parts = zip(
            self.slices,
            torch.split(query, self._sizes, dim=2),
            torch.split(keys, self._sizes, dim=2),
            torch.split(values, self._sizes, dim=2),
            strict=True,
        )
        for part, own_query, new_keys, new_values in parts:
            cached = part.cache.layer(layer).append(new_keys, new_values)
            if own_query.shape[2] == 1:
                last = own_query.view(grouped)
                attended = attend_one(last, *cached, scaling, window, softcap)
                out.append(attended.reshape(1, 1, heads, width))
            else:
                last = own_query[:, :, -1:].reshape(grouped)
                attended = attend_many(own_query, *cached, scaling, window, softcap, self._masks)
                out.append(attended.transpose(1, 2))
            if part.tap is not None:
                part.tap.observe(layer, last[0], cached[0], scaling, window, softcap)
        return out[0] if len(out) == 1 else torch.cat(out, dim=1)


def _attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,  # noqa: ARG001
    *,
    scaling: float,
    packed: PackedBatch,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """What a Hugging Face attention layer calls; no mask is built for it, causality is ours."""
    attended = packed.attend(module.layer_idx, query, key, value, scaling, sliding_window, softcap)
    return attended, None


AttentionInterface.register(PACKED_ATTENTION, _attention)
