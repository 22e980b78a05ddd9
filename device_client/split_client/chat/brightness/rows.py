"""Which attention brightness is gathered from, and its rows as whole numbers."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.formula import MOST_POSITIONS, ONE, Row
from split_wire.attention import AttentionRequest, AttentionWeights

Mode: TypeAlias = Literal["mean", "maximum", "weighted", "last"]
MODES: Final[tuple[Mode, ...]] = ("mean", "maximum", "weighted", "last")
DEFAULT: Final[Mode] = "last"
# Weights of a token: a step and its result are less than 600 bytes longer for them.
MOST_WEIGHTS: Final = 76
# Layers that "weighted" looks at, evenly spaced up to the last.
_WEIGHTED: Final = 4
# "last" looks at the last so-manieth of the layers.
_LAST: Final = 4


def mode_of(name: str) -> Mode:
    """The mode of that name. Raises BrightnessInvalid."""
    for mode in MODES:
        if mode == name:
            return mode
    raise BrightnessInvalid(
        f"brightness is gathered from {', '.join(MODES)}, and not from {str(name)[:40]!r}"
    )


def request_of(mode: Mode, layers: int) -> AttentionRequest:
    """What is asked for with each token of a reply of a model with so many ``layers``.

    ``mean`` and ``maximum``: over all heads of all layers. ``last``: the mean of the last quarter
    of the layers. ``weighted``: of four layers, the later ones counting more.
    """
    match mode:
        case "mean":
            return AttentionRequest(top_k=MOST_WEIGHTS, dtype="f16", reduce="mean")
        case "maximum":
            return AttentionRequest(top_k=MOST_WEIGHTS, dtype="f16", reduce="max")
        case "last":
            chosen = tuple(range(layers - max(1, layers // _LAST), layers))
            return AttentionRequest("all", MOST_WEIGHTS, "f16", chosen, "mean")
        case "weighted":
            ends = {layers * (part + 1) // _WEIGHTED for part in range(_WEIGHTED)} - {0}
            chosen = tuple(sorted(end - 1 for end in ends))
            return AttentionRequest("mean", MOST_WEIGHTS // _WEIGHTED, "f16", chosen)


def row_of(mode: Mode, weights: AttentionWeights, length: int) -> Row:
    """``weights`` over ``length`` positions as one row.

    Of several rows the maximum counts, or the mean, for which ``weighted`` has those of layer k,
    from 1, count k times. Raises BrightnessInvalid.
    """
    values, positions = weights.values, weights.positions
    _check(values, positions, length)
    shares = _shares(values)
    layers, heads, width = values.shape
    if layers * heads == 1:
        places = np.arange(width) if positions is None else positions.reshape(-1)
        return Row(places.astype(np.int64), shares.reshape(-1), length)
    if positions is not None:
        spread = np.zeros((layers, heads, length), np.int64)
        np.put_along_axis(spread, positions.astype(np.int64), shares, -1)
        shares = spread
    return Row(np.arange(length), _joined(mode, shares), length)


def _joined(mode: Mode, shares: NDArray[np.int64]) -> NDArray[np.int64]:
    """One row of ``shares`` [layers, heads, length]."""
    layers, heads, _ = shares.shape
    if mode == "maximum":
        largest: NDArray[np.int64] = shares.max(axis=(0, 1))
        return largest
    counts = np.arange(1, layers + 1) if mode == "weighted" else np.ones(layers, np.int64)
    total: NDArray[np.int64] = (shares.sum(axis=1) * counts[:, None]).sum(axis=0)
    return total // int(counts.sum() * heads)


def _shares(values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Rounded down; a softmax may end a little above 1."""
    return np.minimum(np.floor(values.astype(np.float64) * ONE), ONE).astype(np.int64)


def _check(values: NDArray[np.float32], positions: NDArray[np.int32] | None, length: int) -> None:
    if values.ndim != 3 or not values.size or not 1 <= length <= MOST_POSITIONS:
        raise BrightnessInvalid("attention has at least one row over at least one position")
    if positions is None and values.shape[2] != length:
        raise BrightnessInvalid(
            f"a row of attention has {values.shape[2]:,} weights, and the context then was "
            f"{length:,} tokens long"
        )
    # NaN fails both comparisons.
    if not bool(values.min() >= 0 and values.max() <= 1.001):
        raise BrightnessInvalid("weights of attention are numbers from 0 to 1")
    if positions is not None:
        _check_positions(positions, values.shape, length)


def _check_positions(positions: NDArray[np.int32], shape: tuple[int, ...], length: int) -> None:
    if positions.shape != shape or not bool(positions.min() >= 0 and positions.max() < length):
        raise BrightnessInvalid(f"attention has a position for each weight, below {length:,}")
    if bool((np.diff(np.sort(positions, axis=-1), axis=-1) == 0).any()):
        raise BrightnessInvalid("a row of attention names a position twice")
