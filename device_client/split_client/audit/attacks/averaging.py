"""Averaging: the same prompt seen several times, with independent noise or with the same bytes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def averaged(rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean of several sightings of the same positions, each [n, H]."""
    return np.asarray(np.mean(np.stack(rows), axis=0, dtype=np.float64), dtype=np.float32)


def distinct(rows: Sequence[NDArray[np.float32]]) -> int:
    """The number of sightings that differ: the same bytes again are no further sample."""
    return len({sighting.tobytes() for sighting in rows})
