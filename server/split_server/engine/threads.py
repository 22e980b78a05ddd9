"""How many threads one matrix product may use."""

from __future__ import annotations

import os
from collections.abc import Iterable

import torch

# One core multiplies a matrix of this many values by a vector in about 0.1 ms; waking a second
# core, and above all waiting for one that another process holds, costs more.
_WORTH_SHARING = 1 << 20


def choose_threads(parameters: Iterable[torch.Tensor], wanted: int = 0) -> int:
    """``wanted`` threads, or for 0: one for small matrices, else one per available core."""
    if wanted:
        return wanted
    largest = max((parameter.numel() for parameter in parameters), default=0)
    if largest < _WORTH_SHARING:
        return 1
    return min(torch.get_num_threads(), available_cores())


def available_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
