"""The residual stream of a pass, and the norms that read it.

A root mean square (Zhang and Sennrich 2019, RMSNorm, https://arxiv.org/abs/1910.07467) takes eight
operations where torch has no kernel for it, as on a processor. The mean of a row and its negative
side by side is 0 and their variance is the mean square of the row, so the kernel of layer
normalisation computes it in one.
"""

from __future__ import annotations

import torch


class Norm:
    """``weight`` [H] times a row over its root mean square, rounded once at the end."""

    def __init__(self, weight: torch.Tensor, eps: float) -> None:
        wide = weight.detach().float()
        self.eps = eps
        self.width = len(wide)
        self._doubled = torch.cat([wide, torch.zeros_like(wide)])
        self._shape = (2 * self.width,)

    def of_doubled(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., H] for rows [..., 2 H] that are followed by their negatives."""
        both = torch.layer_norm(rows, self._shape, self._doubled, None, self.eps)
        return both.narrow(-1, 0, self.width)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., H] for rows [..., H]."""
        return self.of_doubled(torch.cat((rows, rows.neg()), dim=-1))


class HeadNorm:
    """The same for heads [1, heads, n, D] with ``weights`` [heads, D]."""

    def __init__(self, weights: torch.Tensor, eps: float) -> None:
        self._weights = weights.detach().float()[:, None]
        self._plain = Norm(torch.ones(weights.shape[1]), eps)

    def __call__(self, heads: torch.Tensor) -> torch.Tensor:
        return (self._plain(heads.float()) * self._weights).to(heads.dtype)


class Stream:
    """Rows [1, n, H] to which layers add, kept with their negatives behind them."""

    def __init__(self, rows: torch.Tensor) -> None:
        width = rows.shape[-1]
        self._both = torch.cat((rows, rows.neg()), dim=-1)
        self._rows = self._both.narrow(-1, 0, width)
        self._negated = self._both.narrow(-1, width, width)

    @property
    def rows(self) -> torch.Tensor:
        """[1, n, H], with all that was added."""
        return self._rows

    def add(self, rows: torch.Tensor, factor: float) -> None:
        """``factor`` times ``rows`` [1, n, H]."""
        self._rows.add_(rows, alpha=factor)
        self._negated.sub_(rows, alpha=factor)

    def normed(self, norm: Norm) -> torch.Tensor:
        """[1, n, H]."""
        return norm.of_doubled(self._both)
