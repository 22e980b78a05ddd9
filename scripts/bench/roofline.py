"""What a decode step must read, and how fast this machine reads.

A step of one session does two operations per weight, so memory bounds it (roofline model: Williams
et al. 2009): every matrix and the session's cache are read once.
"""

from __future__ import annotations

import time

import torch

# Many times the last level of cache.
_STREAM_BYTES = 512 << 20
_ROUNDS = 5
ITEM_BYTES = {"float32": 4, "bfloat16": 2, "int8": 1}


def read_bandwidth() -> float:
    """Bytes per second of the largest element of a float32 vector, the best of some rounds.

    With as many threads as the calling thread's matrix products use.
    """
    stream = torch.zeros(_STREAM_BYTES // 4)
    best = 0.0
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        stream.amax()
        best = max(best, _STREAM_BYTES / (time.perf_counter() - begin))
    return best


def step_bytes(matrix_values: int, kind: str, cache_bytes: int, context: int) -> int:
    """Bytes that a step of one session reads; ``kind``: the dtype of the matrices."""
    return matrix_values * ITEM_BYTES[kind] + cache_bytes * context
