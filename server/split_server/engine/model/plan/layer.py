"""One decoder layer: attention and a gated MLP, each of normed rows and added to them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from split_server.engine.linears.shared import Product
from split_server.engine.model.packed import Attends
from split_server.engine.model.plan.parts import Gate
from split_server.engine.model.plan.rope import Turn
from split_server.engine.model.plan.stream import HeadNorm, Norm, Stream


@dataclass(frozen=True, slots=True)
class Attention:
    """``qkv``: of queries, keys and values one after the other; ``width``: of a head; ``norm``: of
    the heads of queries and keys; ``dtype``: of what is cached; others as
    :meth:`Attends.attend` takes them.
    """

    index: int
    qkv: Product
    out: Product
    heads: int
    kv_heads: int
    width: int
    dtype: torch.dtype
    scaling: float
    window: int | None
    softcap: float | None
    norm: HeadNorm | None

    def __call__(self, hidden: torch.Tensor, turn: Turn, attends: Attends) -> torch.Tensor:
        """[1, n, H] for rows [1, n, H]."""
        rows, turning = hidden.shape[1], self.heads + self.kv_heads
        heads = self.qkv(hidden).view(1, rows, -1, self.width).transpose(1, 2)
        both = heads.narrow(1, 0, turning)
        if self.norm is not None:
            both = self.norm(both)
        both = turn(both).to(self.dtype)
        attended = attends.attend(
            self.index,
            both.narrow(1, 0, self.heads),
            both.narrow(1, self.heads, self.kv_heads),
            heads.narrow(1, turning, self.kv_heads).to(self.dtype),
            self.scaling,
            self.window,
            self.softcap,
        )
        # Attention over several rows comes head by head.
        return self.out(attended.reshape(1, rows, -1))


@dataclass(frozen=True, slots=True)
class GatedMlp:
    """``down(activation(gate) * up)`` (Shazeer 2020, https://arxiv.org/abs/2002.05202);
    ``gate_up``: both one after the other; ``gated``: what of them goes down.
    """

    gate_up: Product
    down: Product
    gated: Gate

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """[1, n, H] for rows [1, n, H]."""
        return self.down(self.gated(self.gate_up(hidden)))


@dataclass(frozen=True, slots=True)
class Layer:
    """``after_*``: norms of what is added, ``factor``: what it is multiplied by."""

    before_attention: Norm
    attention: Attention
    after_attention: Norm | None
    before_mlp: Norm
    mlp: GatedMlp
    after_mlp: Norm | None
    factor: float

    def __call__(self, stream: Stream, turn: Turn, attends: Attends) -> None:
        """Add what this layer adds to ``stream``."""
        added = self.attention(stream.normed(self.before_attention), turn, attends)
        if self.after_attention is not None:
            added = self.after_attention(added)
        stream.add(added, self.factor)
        added = self.mlp(stream.normed(self.before_mlp))
        if self.after_mlp is not None:
            added = self.after_mlp(added)
        stream.add(added, self.factor)
