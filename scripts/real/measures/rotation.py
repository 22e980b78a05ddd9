"""Keys turned from one position to another (rotary embedding, halves of a head paired)."""

from __future__ import annotations

import torch


def turned(keys: torch.Tensor, by: int, base: float) -> torch.Tensor:
    """``keys`` [..., positions, D] as if each position were ``by`` later; ``base``: rope_theta."""
    half = keys.shape[-1] // 2
    speeds = base ** (-torch.arange(half, dtype=torch.float64) / half)
    angles = (by * speeds).to(torch.float64)
    cos, sin = angles.cos().to(keys.dtype), angles.sin().to(keys.dtype)
    first, second = keys[..., :half], keys[..., half:]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
