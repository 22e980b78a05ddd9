"""Floating-point formats of checkpoints and tensors: float32, bfloat16, float16.

numpy has no bfloat16, so a bfloat16 array is its bit patterns as uint16: the upper half of the
float32 with the same sign and exponent. Rounding is to nearest, ties to even (IEEE 754, 4.3.1).
"""

from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

FloatName = Literal["f32", "bf16", "f16"]
FLOAT_NAMES: Final[tuple[FloatName, ...]] = get_args(FloatName)

_QUIET_NAN: Final = np.uint16(0x7FC0)


def bf16_to_f32(bits: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Widen bfloat16 bit patterns of any shape; exact, NaN payloads included."""
    wide = bits.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


def f32_to_bf16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Round float32 of any shape to bfloat16 bit patterns; every NaN becomes the quiet NaN 0x7FC0.

    Values beyond the largest bfloat16 round to infinity, as IEEE 754 asks.
    """
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32).reshape(values.shape)
    half_minus_one_plus_lsb = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    # The addition cannot carry out of 32 bits except for NaN patterns, which are overwritten below.
    rounded = ((bits + half_minus_one_plus_lsb) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(values), _QUIET_NAN, rounded)


def round_to(name: FloatName, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """The nearest value of format ``name`` for each element, as float32 of the same shape.

    Values beyond the format's range become infinite. Raises ValueError for a format that is not
    one of ``FLOAT_NAMES``.
    """
    if name == "f32":
        return np.asarray(values, dtype=np.float32)
    if name == "bf16":
        return bf16_to_f32(f32_to_bf16(values))
    if name == "f16":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    raise ValueError(f"unknown float format {name!r}; known: {', '.join(FLOAT_NAMES)}")
