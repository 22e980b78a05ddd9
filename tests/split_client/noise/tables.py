"""A small embedding table for the tests of noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.noise.calibration import Table

ROWS, WIDTH = 300, 32
VALUES = np.random.default_rng(7).normal(size=(ROWS, WIDTH)).astype(np.float32)
MODEL = "ab" * 32


def clean(ids: list[int]) -> NDArray[np.float32]:
    return VALUES[ids]


def table(sha256: str = "cd" * 32) -> Table:
    return Table(clean, ROWS, WIDTH, sha256, None)
