"""Attention of a server that reduces each layer by itself: the device does what is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import AttentionRequest, AttentionWeights


def widened(request: AttentionRequest) -> AttentionRequest:
    """The least that such a server is asked for, so that :func:`narrowed` can make ``request``."""
    if request.reduce == "none":
        return replace(request, layers=())
    # The mean of the layers' means is that of all heads, and so it is with the maximum.
    heads = request.reduce if request.heads == "all" else request.heads
    return AttentionRequest(heads, dtype=request.dtype)


def narrowed(weights: AttentionWeights, request: AttentionRequest) -> AttentionWeights:
    """What ``request`` asks for, from the answer to :func:`widened`; of means in half precision
    those of the halves.
    """
    chosen = list(request.layers) or slice(None)
    values, positions = weights.values[chosen], weights.positions
    if request.reduce == "none":
        return AttentionWeights(_fixed(values), None if positions is None else positions[chosen])
    row = _reduced(values, request).astype(np.float32)
    if request.dtype == "f16":
        row = row.astype(np.float16).astype(np.float32)
    if not request.top_k:
        return AttentionWeights(_fixed(row[None, None]))
    order = np.argsort(-row, kind="stable")[: request.top_k].astype(np.int32)
    return AttentionWeights(_fixed(row[order][None, None]), order[None, None])


def _reduced(values: NDArray[np.float32], request: AttentionRequest) -> NDArray[np.float64]:
    """One row of ``values`` [layers, heads, n]."""
    rows = values.reshape(-1, values.shape[-1])
    over = np.max if request.reduce == "max" else np.mean
    reduced: NDArray[np.float64] = over(rows.astype(np.float64), axis=0)
    return reduced


def _fixed(values: NDArray[np.float32]) -> NDArray[np.float32]:
    values.flags.writeable = False
    return values
