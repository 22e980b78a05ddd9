"""The memory bandwidth of this machine, when reading."""

from __future__ import annotations

import time

import torch

# Many times the last level of cache.
_STREAM_BYTES = 512 << 20
_ROUNDS = 5


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
