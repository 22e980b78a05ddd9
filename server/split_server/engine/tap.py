"""Attention rows beside a forward pass: what a step's last position attends to.

The attention function shows the tap each layer's last query and cached keys; the tap multiplies
them into one buffer, and softmax and reductions run once over all layers at the end. The result is
that of eager attention (scores, softcap, sliding window, softmax in float32).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from split_wire.attention import AttentionRequest
from split_wire.errors import HiddenOverflow


@dataclass(frozen=True, slots=True)
class AttentionResult:
    """``values`` [layers, heads or 1, width] in the request's dtype, on the CPU.

    ``positions`` int32 of the same shape: the positions of a top-k, largest weight first, equal
    ones by position; None when width is the number of cached positions.
    """

    values: torch.Tensor
    positions: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class _Shape:
    """What turns the products of a layer into scores; ``window`` in positions, 0 for none."""

    scaling: float
    softcap: float
    window: int


class AttentionTap:
    """For one step of one session: ``length`` cached positions, the step's own included.

    ``dtype`` and ``device`` are those of queries and keys.
    """

    def __init__(
        self,
        request: AttentionRequest,
        layers: int,
        heads: int,
        length: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self._request = request
        self._products = torch.empty(layers, heads, length, dtype=dtype, device=device)
        self._shapes: list[_Shape | None] = [None] * layers

    def observe(
        self,
        layer: int,
        query: torch.Tensor,
        keys: torch.Tensor,
        scaling: float,
        sliding_window: int | None = None,
        softcap: float | None = None,
    ) -> None:
        """Take in one layer: ``query`` [kv_heads, rep, D] of the last position (head h is that of
        key head h // rep), ``keys`` [1, kv_heads, length, D], rotated both.

        ``sliding_window``: the last position sees that many positions, itself included.
        """
        kv_heads, rep, _ = query.shape
        products = self._products[layer].view(kv_heads, rep, -1)
        torch.bmm(query, keys[0].transpose(1, 2), out=products)
        self._shapes[layer] = _Shape(scaling, softcap or 0.0, sliding_window or 0)

    def rows(self) -> AttentionResult:
        """What was asked for. Raises HiddenOverflow for scores that are not finite."""
        weights = self._softmax()
        # A score that is not finite makes its whole row NaN.
        if not bool(torch.isfinite(weights[..., -1]).all()):
            raise HiddenOverflow
        if self._request.heads == "mean":
            weights = weights.mean(1, keepdim=True)
        elif self._request.heads == "max":
            weights = weights.amax(1, keepdim=True)
        if self._request.dtype == "f16":
            weights = weights.half()
        if not self._request.top_k:
            return AttentionResult(weights.cpu(), None)
        values, positions = _largest(weights, min(self._request.top_k, weights.shape[-1]))
        return AttentionResult(values.cpu(), positions.cpu())

    def _softmax(self) -> torch.Tensor:
        """Weights float32 [layers, heads, length]."""
        scores = self._products.float()
        shapes = set(self._shapes)
        for shape in shapes:
            if shape is None:
                raise RuntimeError("a layer was not observed")
            if len(shapes) == 1:
                _shape_scores(scores, shape)
            else:
                for layer, own in enumerate(self._shapes):
                    if own == shape:
                        _shape_scores(scores[layer], shape)
        return torch.softmax(scores, dim=-1)


def _shape_scores(scores: torch.Tensor, shape: _Shape) -> None:
    """Products [..., length] to scores in place: scaling, softcap (Gemma 2), window."""
    if shape.softcap:
        scores.mul_(shape.scaling / shape.softcap).tanh_().mul_(shape.softcap)
    else:
        scores.mul_(shape.scaling)
    hidden = scores.shape[-1] - shape.window
    if shape.window and hidden > 0:
        scores[..., :hidden] = -torch.inf


def _largest(weights: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The ``count`` largest of each row [..., length] and their positions int32.

    Sorted by weight, equal ones by position.
    """
    _, chosen = torch.topk(weights, count, sorted=False)
    chosen = chosen.sort().values
    values, order = weights.gather(-1, chosen).sort(descending=True, stable=True)
    return values, chosen.gather(-1, order).int()
