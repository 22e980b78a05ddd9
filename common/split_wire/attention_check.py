"""Checks of attention rows on the device before it uses them: a server is not trusted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import (
    AttentionRequest,
    AttentionRows,
    AttentionWeights,
    weights_of,
)
from split_wire.errors import MalformedMessage

# A softmax in float32 may end that much above 1.
_LARGEST_WEIGHT = 1 + 1e-5


def checked_weights(
    rows: AttentionRows | None, request: AttentionRequest, layers: int, heads: int, cached: int
) -> AttentionWeights:
    """The answer to ``request`` of a model with ``layers`` of ``heads`` over ``cached`` positions.

    Raises MalformedMessage unless shape and dtype are those asked for, weights lie within 0 to 1
    and the positions of a top-k are cached ones in the order of their weights.
    """
    if rows is None:
        raise MalformedMessage("the attention that was asked for is missing")
    shape = (request.layers_of(layers), request.rows_of(heads), request.width_of(cached))
    _check_shape(rows, request, shape)
    stored = rows.values.array().reshape(shape)
    # NaN fails both comparisons.
    if not bool(stored.min() >= 0 and stored.max() <= _LARGEST_WEIGHT):
        raise MalformedMessage("weights of attention lie within 0 to 1")
    if rows.positions is not None:
        _check_order(stored, rows.positions.array().reshape(shape), cached)
    return weights_of(rows)


def _check_shape(
    rows: AttentionRows, request: AttentionRequest, shape: tuple[int, int, int]
) -> None:
    if (rows.layers, rows.heads) != shape[:2]:
        raise MalformedMessage(f"attention of {rows.layers} layers with {rows.heads} rows each")
    flat = (shape[0] * shape[1], shape[2])
    if rows.values.shape != flat or rows.values.dtype != request.dtype:
        raise MalformedMessage(f"attention is not {list(flat)} of {request.dtype}")
    places = None if rows.positions is None else rows.positions.shape
    if places != (flat if request.top_k else None):
        raise MalformedMessage("a top-k of attention, and no other, has positions of its shape")


def _check_order(values: NDArray[Any], positions: NDArray[np.int32], cached: int) -> None:
    if not bool(positions.min() >= 0 and positions.max() < cached):
        raise MalformedMessage("a position of attention is not a cached one")
    fall = values[..., :-1] > values[..., 1:]
    level = values[..., :-1] == values[..., 1:]
    if not bool((fall | (level & (positions[..., :-1] < positions[..., 1:]))).all()):
        raise MalformedMessage("positions of attention are not in the order of their weights")
    # Equal weights rise by position; only unequal ones could name a position twice.
    if bool((np.diff(np.sort(positions, axis=-1), axis=-1) == 0).any()):
        raise MalformedMessage("a position of attention is named twice")
