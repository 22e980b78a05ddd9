"""Keys and values in fewer bits and back, as a cache would hold them; [..., positions, width]."""

from __future__ import annotations

import torch

BLOCK = 16


def per_position(values: torch.Tensor, bits: int) -> torch.Tensor:
    """One scale and zero for each position of each head."""
    return _affine(values, values.amin(-1, keepdim=True), values.amax(-1, keepdim=True), bits)


def per_channel(values: torch.Tensor, bits: int, block: int = BLOCK) -> torch.Tensor:
    """One scale and zero for each channel in blocks of ``block`` positions (KIVI: Liu et al. 2024,
    https://arxiv.org/abs/2402.02750); the last block may be shorter.
    """
    parts = values.split(block, dim=-2)
    return torch.cat(
        [_affine(p, p.amin(-2, keepdim=True), p.amax(-2, keepdim=True), bits) for p in parts], -2
    )


def eight_bit_floats(values: torch.Tensor) -> torch.Tensor:
    """Rounded to float8_e4m3fn, without a scale."""
    return values.to(torch.float8_e4m3fn).to(values.dtype)


def _affine(values: torch.Tensor, low: torch.Tensor, high: torch.Tensor, bits: int) -> torch.Tensor:
    """Rounded to 2^``bits`` evenly spaced numbers from ``low`` to ``high``."""
    step = ((high - low) / (2**bits - 1)).clamp_min(torch.finfo(values.dtype).tiny)
    return ((values - low) / step).round_() * step + low
