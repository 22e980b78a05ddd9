"""Tensors as they travel: raw little-endian rows with a dtype and a shape.

``i8`` holds one f32 scale per row (value = scale * int8), placed after the rows at the next
multiple of 8 bytes. A scale is above 0 and small enough that no product overflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from split_wire import rows as short
from split_wire.errors import MalformedMessage, NonFinite, WrongDtype, WrongShape
from split_wire.floats import bf16_to_f32, f32_to_bf16

WireDtype: TypeAlias = Literal["f32", "f16", "bf16", "i8"]
# Whole numbers are positions, never rows.
TensorDtype: TypeAlias = WireDtype | Literal["i32"]
WIRE_DTYPES: tuple[WireDtype, ...] = get_args(WireDtype)
ALIGNMENT = 8
_STORAGE: dict[str, np.dtype[Any]] = {
    "f32": np.dtype("<f4"),
    "f16": np.dtype("<f2"),
    "bf16": np.dtype("<u2"),
    "i8": np.dtype("i1"),
    "i32": np.dtype("<i4"),
}
# -128 times this is still a finite float32.
MAX_SCALE = np.float32(np.finfo(np.float32).max / np.float32(128))
# The bits of an exponent that is all ones mark NaN and infinity in IEEE 754 binary formats.
_EXPONENT = {"f16": 0x7C00, "bf16": 0x7F80}


def align(offset: int) -> int:
    """The next multiple of 8 at or after ``offset``."""
    return -(-offset // ALIGNMENT) * ALIGNMENT


def wire_dtype(name: object) -> WireDtype:
    """Check a dtype's name. Raises WrongDtype."""
    for known in WIRE_DTYPES:
        if isinstance(name, str) and name == known:
            return known
    # Never the repr of a value that came off the wire: it may be nested too deeply to print.
    raise WrongDtype(name if isinstance(name, str) else type(name).__name__)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A [rows, width] matrix: ``data`` its raw bytes, ``scales`` the f32 bytes of an ``i8`` one."""

    dtype: TensorDtype
    shape: tuple[int, int]
    data: bytes | memoryview
    scales: bytes | memoryview = b""

    def __post_init__(self) -> None:
        rows, width = self.shape
        scales = 4 * rows if self.dtype == "i8" else 0
        if len(self.data) != rows * width * item_size(self.dtype) or len(self.scales) != scales:
            raise WrongShape(self.shape, f"{len(self.data)} bytes of {self.dtype}")

    @property
    def rows(self) -> int:
        return self.shape[0]

    @property
    def width(self) -> int:
        return self.shape[1]

    def part(self, first: int, last: int) -> Tensor:
        """A copy of the rows from ``first`` to ``last``."""
        row, scale = self.width * item_size(self.dtype), 4 if self.dtype == "i8" else 0
        data, scales = (
            self.data[row * first : row * last],
            self.scales[scale * first : scale * last],
        )
        return Tensor(self.dtype, (last - first, self.width), data, scales)

    def array(self) -> NDArray[Any]:
        """The stored values without widening, bf16 as uint16 bits: a view of [rows, width]."""
        return np.frombuffer(self.data, _STORAGE[self.dtype]).reshape(self.shape)

    def row_scales(self) -> NDArray[np.float32]:
        """The scales of an ``i8`` tensor, [rows]."""
        return np.frombuffer(self.scales, "<f4")

    def to_f32(self) -> NDArray[np.float32]:
        """The values as float32, [rows, width].

        Exact for every dtype but the products of ``i8`` and an ``i32`` beyond 2^24. An ``f32``
        tensor's is a read-only view.
        """
        if self.dtype == "bf16" and len(self.data) <= short.LIMIT:
            return short.widen_bf16(self.data).reshape(self.shape)
        stored = self.array()
        if self.dtype == "f32":
            return stored
        if self.dtype == "bf16":
            return bf16_to_f32(stored)
        if self.dtype in ("f16", "i32"):
            return stored.astype(np.float32)
        return stored.astype(np.float32) * self.row_scales()[:, None]

    def require_finite(self) -> None:
        """Raises NonFinite when :meth:`to_f32` would hold NaN or infinity.

        Raises MalformedMessage when a scale is not above 0.
        """
        if len(self.data) <= short.LIMIT and short.surely_finite(self.data, self.dtype):
            return
        if self.dtype in _EXPONENT:
            mask = np.uint16(_EXPONENT[self.dtype])
            finite = not bool(((self.array().view(np.uint16) & mask) == mask).any())
        elif self.dtype == "i8":
            finite = bool((np.abs(self.row_scales()) <= MAX_SCALE).all())
        else:
            finite = bool(np.isfinite(self.array()).all())
        if not finite:
            raise NonFinite
        if self.dtype == "i8" and bool((self.row_scales() <= 0).any()):
            raise MalformedMessage("the scales of an i8 tensor must be above 0")

    @classmethod
    def from_f32(cls, values: NDArray[np.float32], dtype: WireDtype) -> Tensor:
        """Encode float32 ``values`` [rows, width], rounding to nearest, ties to even.

        Raises NonFinite for NaN, infinity and values beyond the dtype's range; WrongShape.
        """
        if values.ndim != 2:
            raise WrongShape(values.shape, "[rows, width]")
        shape = (values.shape[0], values.shape[1])
        if dtype == "i8":
            return cls._quantised(np.ascontiguousarray(values, np.float32), shape)
        tensor = cls(dtype, shape, _encoded(values, dtype))
        tensor.require_finite()
        return tensor

    @classmethod
    def _quantised(cls, values: NDArray[np.float32], shape: tuple[int, int]) -> Tensor:
        if not np.isfinite(values).all():
            raise NonFinite
        peak = np.abs(values).max(axis=1, initial=0.0)
        scales = np.where(peak > 0, peak / np.float32(127), np.float32(1)).astype("<f4")
        # A denormal peak can underflow its scale to zero; such a row is sent as zeros.
        scales[scales == 0] = 1
        np.minimum(scales, MAX_SCALE, out=scales)
        quantised = np.rint(values / scales[:, None]).clip(-127, 127).astype(np.int8)
        return cls("i8", shape, quantised.tobytes(), scales.tobytes())


def _encoded(values: NDArray[np.float32], dtype: WireDtype) -> bytes:
    if dtype == "bf16":
        exact = short.narrow_bf16(values) if values.nbytes <= 2 * short.LIMIT else None
        if exact is not None:
            return exact
        return f32_to_bf16(np.ascontiguousarray(values, np.float32)).tobytes()
    with np.errstate(over="ignore"):
        return np.asarray(values, _STORAGE[dtype]).tobytes()


def item_size(dtype: TensorDtype) -> int:
    """Bytes of one value."""
    return _STORAGE[dtype].itemsize
