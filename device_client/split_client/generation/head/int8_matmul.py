"""Exact integer products of a large int8 matrix with two rows of 7-bit integers, by onnxruntime.

The matrix is [tiles, hidden, tile]: output column ``t * tile + j`` is ``matrix[t, :, j]``. On
x86-64 MatMulInteger with one row has a kernel that reads the matrix where it lies, so tiles stay
mapped from disk without a private copy, and one tile is small enough that the second row finds it
in cache. Elsewhere onnxruntime packs a constant two-dimensional matrix once, at the price of a
private copy. So it does on x86-64 with AMX, whose kernel has no such way for one row: it would pack
every tile anew at every product, which takes three times as long.

Rows hold 0..127, not 0..255: x86-64 without VNNI adds pairs of u8 * s8 products in saturating
16-bit arithmetic, and 2 * 127 * 127 fits where 2 * 255 * 127 does not. With hidden <= 2^17 the
int32 sums cannot overflow. The result is exact on every platform.
"""

import platform
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from split_client.generation.head.onnx_graph import Element, external, model, node, value
from split_client.generation.head.onnx_session import (
    onnxruntime,
    open_session,
    session_options,
)

STREAMED_TILE: Final = 128
MAX_HIDDEN: Final = 2**17
PLANES: Final = 2
_X86_64: Final = frozenset({"x86_64", "amd64"})
_CPU_INFO: Final = Path("/proc/cpuinfo")
_FLAGS: Final = "flags"


class IntegerProducts(Protocol):
    """[2, hidden] uint8 of 0..127 -> two [tiles, tile] int32 arrays, one for each row."""

    def __call__(self, rows: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...


def preferred_tile(rows: int) -> int:
    """Columns per tile that this machine's kernel wants of ``rows``: all of them if it packs."""
    if platform.machine().lower() in _X86_64 and not _has_amx():
        return STREAMED_TILE
    return -(-rows // STREAMED_TILE) * STREAMED_TILE


def _has_amx() -> bool:
    """Whether the processor multiplies tiles of bytes; False where only the system would know."""
    try:
        with _CPU_INFO.open(encoding="utf-8", errors="replace") as lines:
            # All processors of a machine have the same flags.
            first = next((line for line in lines if line.startswith(_FLAGS)), "")
    except OSError:
        return False
    return "amx_int8" in first.split()


def integer_products(matrix: NDArray[np.int8], threads: int) -> IntegerProducts:
    """The kernel for ``matrix`` [tiles, hidden, tile], which must stay alive and unchanged."""
    return _Packed(matrix, threads) if matrix.shape[0] == 1 else _Streamed(matrix, threads)


class _Streamed:
    """The matrix is an input of the graph, read from the caller's memory at each run."""

    def __init__(self, matrix: NDArray[np.int8], threads: int) -> None:
        tiles, hidden, tile = matrix.shape
        self._matrix = matrix.reshape(tiles, 1, hidden, tile)
        self._session = open_session(
            model(
                [node("MatMulInteger", ["rows", "matrix"], ["products"])],
                [
                    value("rows", Element.UINT8, [1, PLANES, 1, hidden]),
                    value("matrix", Element.INT8, [tiles, 1, hidden, tile]),
                ],
                [value("products", Element.INT32, [tiles, PLANES, 1, tile])],
            ),
            session_options(threads),
        )

    def __call__(self, rows: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        feed = {"rows": rows.reshape(1, PLANES, 1, -1), "matrix": self._matrix}
        (products,) = self._session.run(None, feed)
        return products[:, 0, 0, :], products[:, 1, 0, :]


class _Packed:
    """The matrix is a constant that onnxruntime packs for its kernel when the session starts."""

    def __init__(self, matrix: NDArray[np.int8], threads: int) -> None:
        _, hidden, columns = matrix.shape
        options = session_options(threads)
        mapped = onnxruntime().OrtValue.ortvalue_from_numpy(matrix[0])
        options.add_external_initializers(["matrix"], [mapped])
        self._session = open_session(
            model(
                [node("MatMulInteger", ["rows", "matrix"], ["products"])],
                [value("rows", Element.UINT8, [PLANES, hidden])],
                [value("products", Element.INT32, [PLANES, columns])],
                [external("matrix", Element.INT8, [hidden, columns])],
            ),
            options,
        )

    def __call__(self, rows: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        (products,) = self._session.run(None, {"rows": rows})
        return products[:1], products[1:]
