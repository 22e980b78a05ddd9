"""Parts of a plan for CUDA devices, where the number of kernels is what a small pass takes."""

from __future__ import annotations

import torch
from torch.nn import functional

from split_server.engine.model.plan.fused.kernels import (
    gate_rows,
    norm_heads,
    norm_rows,
    turn_heads,
)
from split_server.engine.model.plan.parts import Activation, Gate, Parts, gated
from split_server.engine.model.plan.rope import Turn
from split_server.engine.model.plan.stream import HeadNorm, Norm, Stream


class FusedNorm(Norm):
    """As :class:`Norm`, in one kernel."""

    def __init__(self, weight: torch.Tensor, eps: float) -> None:
        self.eps, self.width = eps, len(weight)
        self.weight = weight.detach().float().contiguous()

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., H] for rows [..., H]."""
        return norm_rows(rows.contiguous(), self.weight, self.eps)


class FusedHeadNorm(HeadNorm):
    """As :class:`HeadNorm`, in place."""

    def __init__(self, weights: torch.Tensor, eps: float) -> None:
        self._weights, self._eps = weights.detach().float().contiguous(), eps

    def __call__(self, heads: torch.Tensor) -> torch.Tensor:
        return norm_heads(heads, self._weights, self._eps)


class FusedTurn(Turn):
    """As :class:`Turn`, in place."""

    def __init__(self, cos: torch.Tensor, sin: torch.Tensor) -> None:
        self._angles = cos[0].contiguous(), sin[0].contiguous()

    def __call__(self, heads: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        return turn_heads(heads, *self._angles)


class FusedStream(Stream):
    """As :class:`Stream`; what is added last is added by the norm that reads it."""

    def __init__(self, rows: torch.Tensor) -> None:
        # The rows belong to whoever sent them.
        self._rows = rows.clone(memory_format=torch.contiguous_format)
        self._waiting: tuple[torch.Tensor, float] | None = None

    @property
    def rows(self) -> torch.Tensor:
        """[1, n, H], with all that was added."""
        if self._waiting is not None:
            added, factor = self._waiting
            self._rows.add_(added, alpha=factor)
            self._waiting = None
        return self._rows

    def add(self, rows: torch.Tensor, factor: float) -> None:
        """``factor`` times ``rows`` [1, n, H]."""
        held = self.rows
        self._waiting = rows.view(held.shape), factor

    def normed(self, norm: Norm) -> torch.Tensor:
        """[1, n, H]."""
        if not isinstance(norm, FusedNorm):
            raise TypeError(f"{type(norm).__name__} is for another device")
        added, factor = self._waiting or (None, 1.0)
        self._waiting = None
        return norm_rows(self._rows, norm.weight, norm.eps, added, factor)


def fused_gate(activation: Activation) -> Gate:
    """As :func:`gated`, for SiLU in one kernel."""
    return gate_rows if activation is functional.silu else gated(activation)


FUSED = Parts(FusedNorm, FusedHeadNorm, FusedStream, FusedTurn, fused_gate)
