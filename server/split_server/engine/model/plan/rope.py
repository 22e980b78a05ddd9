"""Rotary positions (Su et al. 2021, RoFormer, https://arxiv.org/abs/2104.09864) of all heads at
once: each pair of a value of the first half and one of the second is turned by an angle of its own.
"""

from __future__ import annotations

import torch


class Turn:
    """Turns heads [1, heads, n, D] of n positions, or the first values of each."""

    def __init__(self, cos: torch.Tensor, sin: torch.Tensor) -> None:
        """``cos`` and ``sin`` [1, n, T], as Hugging Face computes them; T at most D."""
        self._width = cos.shape[-1]
        self._half = self._width // 2
        self._cos = cos[:, None]
        first, second = torch.split(sin, self._half, dim=-1)
        # The partner of a value in the first half counts against it.
        self._sin = torch.cat((first.neg(), second), dim=-1)[:, None]

    def __call__(self, heads: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        if heads.shape[-1] == self._width:
            return self._turned(heads)
        turned = self._turned(heads[..., : self._width])
        return torch.cat((turned, heads[..., self._width :]), dim=-1)

    def _turned(self, heads: torch.Tensor) -> torch.Tensor:
        return (heads * self._cos).addcmul_(heads.roll(self._half, -1), self._sin)
