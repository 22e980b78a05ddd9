"""Four-bit values, scales and zero points that fit a matrix, column by column as much as it counts.

Rounding to the nearest of sixteen steps between a group's least and largest weight serves all
columns alike. A few columns meet inputs that are a hundred times the others', so there an error
counts ten thousand times as much: what is made small is the sum of squared errors, each times the
mean square of its column's inputs (the diagonal of the Hessian of Frantar et al. 2022, GPTQ,
https://arxiv.org/abs/2210.17323; Lin et al. 2023, AWQ, https://arxiv.org/abs/2306.00978, section
3.1, on which columns matter).
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from split_server.engine.linears.int4.matrix import LARGEST, MIDDLE

# Shares of the range from least to largest weight that are tried: a narrower one has finer steps
# for all but its ends.
_SHARES = (1.0, 0.8, 0.6)
# Times that scale and zero point are solved for, given the values, and values rounded again; from
# each share, since where it ends depends on where it begins.
_REFITS = 2
_SMALLEST = 1e-8


class Fitted(NamedTuple):
    """``values`` [n, groups, group] of 0 to 15, as floats; ``scales``, ``zeros`` [n, groups, 1]."""

    values: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor

    def weights(self) -> torch.Tensor:
        """What they stand for, [n, groups, group]."""
        return (self.values - MIDDLE) * self.scales + self.zeros


def nearest(weights: torch.Tensor, dtype: torch.dtype, share: float = 1.0) -> Fitted:
    """float32 ``weights`` [n, groups, group] rounded to steps between ``share`` of the least and of
    the largest of each group; scales and zero points are values of ``dtype``.
    """
    least, largest = torch.aminmax(weights, dim=-1, keepdim=True)
    scales = (largest - least) * (share / LARGEST)
    return _rounded(weights, scales, least * share + MIDDLE * scales, dtype)


def fitted(weights: torch.Tensor, counts: torch.Tensor, dtype: torch.dtype) -> Fitted:
    """The best of some shares, refitted; ``counts`` [groups, group]: what an error of a column
    counts, at least zero and finite.
    """
    # Relative to the group's mean, so that sums neither vanish nor overflow.
    means = counts.mean(dim=-1, keepdim=True)
    counts = torch.where(means > 0, counts / means, torch.ones_like(counts))
    best = nearest(weights, dtype)
    error = _error(best, weights, counts)
    for share in _SHARES:
        other = nearest(weights, dtype, share)
        for _ in range(_REFITS):
            other = _refitted(other, weights, counts, dtype)
        best, error = _better(best, error, other, weights, counts)
    return best


def _rounded(
    weights: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor, dtype: torch.dtype
) -> Fitted:
    scales, zeros = scales.to(dtype).float(), zeros.to(dtype).float()
    # Equal weights have no range: their zero point holds them, whatever the scale.
    divisor = torch.where(scales.abs() < _SMALLEST, torch.ones_like(scales), scales)
    values = (weights - zeros).div_(divisor).add_(MIDDLE).round_().clamp_(0, LARGEST)
    return Fitted(values, scales, zeros)


def _refitted(
    found: Fitted, weights: torch.Tensor, counts: torch.Tensor, dtype: torch.dtype
) -> Fitted:
    """Scale and zero point by weighted least squares of ``weights`` over the values."""
    total = counts.sum(dim=-1, keepdim=True)
    value = (counts * found.values).sum(dim=-1, keepdim=True) / total
    weight = (counts * weights).sum(dim=-1, keepdim=True) / total
    apart = found.values - value
    weighed = counts * apart
    square = (weighed * apart).sum(dim=-1, keepdim=True)
    slope = (weighed * (weights - weight)).sum(dim=-1, keepdim=True) / square
    scales = torch.where(square > 0, slope, found.scales)
    return _rounded(weights, scales, weight - (value - MIDDLE) * scales, dtype)


def _better(
    best: Fitted, error: torch.Tensor, other: Fitted, weights: torch.Tensor, counts: torch.Tensor
) -> tuple[Fitted, torch.Tensor]:
    """Of each group the one with the smaller error."""
    found = _error(other, weights, counts)
    less = found < error
    picked = (torch.where(less, new, old) for new, old in zip(other, best, strict=True))
    return Fitted(*picked), torch.where(less, found, error)


def _error(found: Fitted, weights: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    apart = found.weights().sub_(weights).square_().mul_(counts)
    return apart.sum(dim=-1, keepdim=True)
