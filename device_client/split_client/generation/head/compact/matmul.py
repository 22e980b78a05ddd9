"""Approximate products of a 4-bit plane with a hidden state, by onnxruntime or by numpy.

onnxruntime's MatMulNBits with accuracy level 4 rounds the activation to int8 too, block by block
(level 0 widens the weights first and is many times slower):
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md#com.microsoft.MatMulNBits
It packs the plane for its kernel, at the price of a private copy. numpy widens a few rows at a time
and leaves the plane in the page cache.
"""

import logging
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.compact.file import BLOCK, Plane
from split_client.generation.head.onnx_graph import MICROSOFT, Element, external, model, node, value
from split_client.generation.head.onnx_session import (
    onnxruntime,
    onnxruntime_available,
    open_session,
    session_options,
)

_LOG: Final = logging.getLogger(__name__)
_AT_ONCE: Final = 2**18  # weights widened at once: they stay in cache
_PROBED_ROWS: Final = 256
# Relative to the norm of the products. Rounding the activation to int8 costs below 0.01; a kernel
# that reads another layout misses by about 1.
_TOLERANCE: Final = 0.05


class PlaneProducts(Protocol):
    """Scaled activation float32 [padded hidden] -> approximate products float32 [rows]."""

    def __call__(self, scaled: NDArray[np.float32]) -> NDArray[np.float32]: ...


class Estimator:
    """Estimates of every row . hidden of the ``plane``; several threads may use one."""

    def __init__(self, plane: Plane, products: PlaneProducts) -> None:
        self._columns = plane.column_scale
        self._products = products

    def __call__(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """float32 [rows], which the caller owns; not finite where they overflow."""
        scaled = np.zeros(self._columns.size, np.float32)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            np.multiply(hidden, self._columns[: hidden.size], out=scaled[: hidden.size])
            return self._products(scaled)


def plane_products(plane: Plane, threads: int) -> PlaneProducts:
    """The fastest kernel here for ``plane``, whose mapping must stay: onnxruntime, else numpy."""
    plain = NumpyProducts(plane)
    if not onnxruntime_available():
        return plain
    try:
        fast = OnnxProducts(plane, threads)
        agrees = _agree(fast, plain, plane)
    # A build of onnxruntime without this operator or kernel says so in a dozen types of its own.
    except Exception as error:  # noqa: BLE001
        _LOG.warning("onnxruntime has no 4-bit product here, numpy takes over: %s", error)
        return plain
    if not agrees:
        _LOG.warning("onnxruntime's 4-bit product is wrong here, numpy takes over")
    return fast if agrees else plain


class OnnxProducts:
    """One MatMulNBits over the mapped plane."""

    def __init__(self, plane: Plane, threads: int) -> None:
        shape = plane.shape
        options = session_options(threads)
        parts = {"levels": plane.levels, "scale": plane.scale.reshape(-1)}
        values = [onnxruntime().OrtValue.ortvalue_from_numpy(part) for part in parts.values()]
        options.add_external_initializers(list(parts), values)
        self._kept = values
        self._session: Any = open_session(_graph(shape.rows, shape.blocks), options)

    def __call__(self, scaled: NDArray[np.float32]) -> NDArray[np.float32]:
        (products,) = self._session.run(None, {"activation": scaled[None]})
        found: NDArray[np.float32] = products[0]
        return found


class NumpyProducts:
    """The same from numpy; the activation is not rounded.

    With v the byte of two levels and u its high half, level_0 h_0 + level_1 h_1 is
    v h_0 + u (h_1 - 16 h_0) - 8 (h_0 + h_1): two widened planes instead of two unpacked ones.
    """

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._rows_at_once = max(1, _AT_ONCE // plane.shape.padded_hidden)

    def __call__(self, scaled: NDArray[np.float32]) -> NDArray[np.float32]:
        return self.first(scaled, self._plane.shape.rows)

    def first(self, scaled: NDArray[np.float32], count: int) -> NDArray[np.float32]:
        """The products of the first ``count`` rows."""
        blocks = self._plane.shape.blocks
        even, odd = scaled[0::2].reshape(blocks, -1, 1), scaled[1::2].reshape(blocks, -1, 1)
        factors = even, odd - 16 * even
        offset = np.float32(8) * scaled.reshape(blocks, BLOCK).sum(axis=1)
        products = np.empty(min(count, self._plane.shape.rows), np.float32)
        for start in range(0, products.size, self._rows_at_once):
            rows = slice(start, min(start + self._rows_at_once, products.size))
            sums = _block_sums(self._plane.levels[rows], factors) - offset
            products[rows] = np.einsum("nb,nb->n", sums, self._plane.scale[rows])
        return products


def _block_sums(
    levels: NDArray[np.uint8], factors: tuple[NDArray[np.float32], NDArray[np.float32]]
) -> NDArray[np.float32]:
    """Sums [n, blocks] of bytes times the first factor and their high halves times the second."""
    planes = levels.astype(np.float32), (levels >> np.uint8(4)).astype(np.float32)
    # Blocks first: each is one matrix-vector product over all rows.
    sums = [
        plane.transpose(1, 0, 2) @ factor for plane, factor in zip(planes, factors, strict=True)
    ]
    total: NDArray[np.float32] = (sums[0] + sums[1])[..., 0].T
    return total


def _graph(rows: int, blocks: int) -> bytes:
    hidden = blocks * BLOCK
    attributes = {"K": hidden, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
    inputs = ["activation", "levels", "scale"]
    return model(
        [node("MatMulNBits", inputs, ["products"], domain=MICROSOFT, attributes=attributes)],
        [value("activation", Element.FLOAT, [1, hidden])],
        [value("products", Element.FLOAT, [1, rows])],
        [
            external("levels", Element.UINT8, [rows, blocks, BLOCK // 2]),
            external("scale", Element.FLOAT, [rows * blocks]),
        ],
    )


def _agree(fast: PlaneProducts, plain: NumpyProducts, plane: Plane) -> bool:
    """Whether both give about the same for the first rows and an activation of changing size."""
    scaled = np.cos(np.arange(plane.shape.padded_hidden, dtype=np.float32))
    expected = plain.first(scaled, _PROBED_ROWS)
    difference = np.linalg.norm(fast(scaled)[: expected.size] - expected)
    return bool(difference <= _TOLERANCE * np.linalg.norm(expected))
