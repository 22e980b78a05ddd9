"""Turned keys against a plain rotation, and against Hugging Face's."""

from __future__ import annotations

import numpy as np
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from scripts.real.measures.rotation import turned

_BASE = 10_000.0
_KEYS = torch.from_numpy(np.random.default_rng(1).standard_normal((1, 2, 5, 8)).astype(np.float32))


def _placed(keys: torch.Tensor, first: int) -> torch.Tensor:
    """Keys rotated to the positions from ``first`` on, by Hugging Face."""
    speeds = _BASE ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
    angles = torch.arange(first, first + keys.shape[2], dtype=torch.float64)[:, None] * speeds
    both = torch.cat([angles, angles], dim=-1)[None]
    _, placed = apply_rotary_pos_emb(keys, keys, both.cos().float(), both.sin().float())
    return placed


def test_keys_that_are_turned_are_those_of_their_new_positions() -> None:
    for by in (1, 40, -3):
        torch.testing.assert_close(turned(_placed(_KEYS, 7), by, _BASE), _placed(_KEYS, 7 + by))


def test_every_pair_is_turned_by_its_own_angle() -> None:
    found = turned(_KEYS, 2, _BASE).double().numpy()
    wide = _KEYS.double().numpy()
    for pair in range(4):
        angle = 2 * _BASE ** (-pair / 4)
        wanted = np.exp(1j * angle) * (wide[..., pair] + 1j * wide[..., pair + 4])
        np.testing.assert_allclose(found[..., pair] + 1j * found[..., pair + 4], wanted, atol=1e-6)
