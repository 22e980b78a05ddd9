"""Seeded inputs that every implementation gets alike, and how far two of them are apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def embedding_rows(count: int, width: int, seed: int) -> np.ndarray:
    """float32 [count, width] that bfloat16 holds exactly."""
    rows = np.random.default_rng(seed).standard_normal((count, width), dtype=np.float32)
    return (rows.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def least_cosine(found: Sequence[Sequence[float]], expected: Sequence[Sequence[float]]) -> float:
    """The smallest cosine between rows of the same place."""
    a, b = np.asarray(found, np.float64), np.asarray(expected, np.float64)
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(((a * b).sum(axis=1) / norms).min())


def require_alike(
    name: str, found: Sequence[Sequence[float]], expected: Sequence[Sequence[float]], least: float
) -> float:
    """The smallest cosine; ends the program when it is below ``least``."""
    cosine = least_cosine(found, expected)
    if not cosine >= least:
        raise SystemExit(f"{name} computes something else: cosine {cosine:.5f}")
    return cosine
