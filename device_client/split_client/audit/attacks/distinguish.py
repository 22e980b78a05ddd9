"""The likelihood-ratio test between two tokens at one position (Neyman and Pearson 1933)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def log_ratio(
    row: NDArray[np.float32], one: NDArray[np.float64], other: NDArray[np.float64], sigma: float
) -> float:
    """log p(row | one) - log p(row | other) under Gaussian noise; rows [H], clipped ones given."""
    sent = row.astype(np.float64)
    nearer = np.square(sent - other).sum() - np.square(sent - one).sum()
    return float(nearer / (2 * max(sigma, 1e-12) ** 2))
