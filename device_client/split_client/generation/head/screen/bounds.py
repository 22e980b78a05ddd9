"""Bounds of every logit from an int8 copy of the LM head: what can be in the top k, proven.

Row r and hidden state h are scaled by the column scales c, which leaves their product unchanged:
w = w_r / c = s q + e and h' = c h = g + d, where q and the two planes of g are integers (see
``screen_build`` and ``activation``). Their product P = <q, g> comes from exact integer sums. Then

    |<w_r, h> - s P| = |<e, h'> + s <q, d>| <= |e| |h'| + |s q| |d|           (Cauchy-Schwarz)

The float32 product that is ranked later may sum in any order (K = hidden, u = 2^-24): it is within
gK <|w|, |h'|> <= gK (|e| + |s q|) |h'| of the true one, gK = K u / (1 - K u) <= 2 K u (Higham 2002,
section 3.1). Computing s P in float32 takes at most eight roundings of terms whose sum is at most
|s q| E with E = 191 sqrt(K) (coarse + fine) + |h'| + |d|: an unsigned plane is at most 127, its
offset 64, and the 1-norm of q at most sqrt(K) times its 2-norm. So, with a bias b added at last,

    radius = |e| |h'| (1 + 2 K u) + |s q| (|d| + 2 K u |h'| + 8 u E) + 4 u |b| + underflow

bounds the distance of s P + b from any float32 evaluation of <w_r, h> + b. A row that overflows
gets an infinite radius or NaN and is always kept.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.activation import OFFSET, Planes, split
from split_client.generation.head.int8_matmul import IntegerProducts
from split_client.generation.head.screen.file import ScreenTables

_UNIT: Final = 2.0**-24
_ROUNDED_UP: Final = 1 + 2.0**-20  # covers the float32 evaluation of the radius itself


class Bounds(NamedTuple):
    """float32 [padded rows]; valid until the next call, meaningless past the last row."""

    lower: NDArray[np.float32]
    upper: NDArray[np.float32]


class Screen:
    """The screen of one LM head. One caller at a time: scratch memory is reused."""

    def __init__(
        self,
        tables: ScreenTables,
        products: IntegerProducts,
        bias: NDArray[np.float32] | None = None,
    ) -> None:
        self._tables = tables
        self._products = products
        padded = tables.shape.padded_rows
        self._bias, self._bias_radius = _padded_bias(bias, padded)
        self._centre, self._radius, self._scratch = (np.empty(padded, np.float32) for _ in range(3))

    def bounds(self, hidden: NDArray[np.float32]) -> Bounds:
        """Bounds of row . hidden + bias for all rows; ``hidden``: finite float32 [hidden]."""
        planes = split(hidden.astype(np.float64) * self._tables.column_scale)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            self._fill_centre(planes)
            self._fill_radius(planes)
            np.subtract(self._centre, self._radius, out=self._scratch)
            np.add(self._centre, self._radius, out=self._radius)
        return Bounds(self._scratch, self._radius)

    def _fill_centre(self, planes: Planes) -> None:
        first, second = self._products(planes.rows)
        centre, scratch = self._centre, self._scratch
        tiled = (centre.reshape(first.shape), scratch.reshape(first.shape))
        np.multiply(first, planes.coarse, out=tiled[0], dtype=np.float32, casting="unsafe")
        np.multiply(second, planes.fine, out=tiled[1], dtype=np.float32, casting="unsafe")
        centre += scratch
        offset = np.float32(OFFSET) * (planes.coarse + planes.fine)
        np.multiply(self._tables.total, offset, out=scratch)
        centre -= scratch
        centre *= self._tables.scale
        if self._bias is not None:
            centre += self._bias

    def _fill_radius(self, planes: Planes) -> None:
        on_error, on_norm, constant = radius_factors(planes)
        np.multiply(self._tables.error, on_error, out=self._radius)
        np.multiply(self._tables.norm, on_norm, out=self._scratch)
        self._radius += self._scratch
        self._radius += constant
        if self._bias_radius is not None:
            self._radius += self._bias_radius


def radius_factors(planes: Planes) -> tuple[np.float32, np.float32, np.float32]:
    """The factors of |e| and |s q| and the constant of the radius, each rounded up."""
    size = planes.rows.shape[1]
    any_order = 2 * size * _UNIT
    steps = 191 * np.sqrt(size) * float(planes.coarse + planes.fine)
    evaluation = 8 * _UNIT * (steps + planes.norm + planes.residual_norm)
    return (
        np.float32(planes.norm * (1 + any_order) * _ROUNDED_UP),
        np.float32((planes.residual_norm + any_order * planes.norm + evaluation) * _ROUNDED_UP),
        np.float32(size * 2.0**-120),
    )


def _padded_bias(
    bias: NDArray[np.float32] | None, padded: int
) -> tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]:
    if bias is None:
        return None, None
    whole = np.zeros(padded, np.float32)
    whole[: bias.size] = bias
    return whole, np.abs(whole) * np.float32(4 * _UNIT * _ROUNDED_UP)
