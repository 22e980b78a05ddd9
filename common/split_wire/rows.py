"""The few rows of a decode step by byte copies instead of numpy calls.

After a model step the caches are cold, and then numpy's dispatch of one operation costs ten times
what copying a row does. Results equal those of ``split_wire.floats`` bit by bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Bytes of stored values up to which copying is the faster way, cold and warm.
LIMIT = 32 * 1024
# The byte with the sign and the upper exponent bits of a value that may be NaN or infinite.
_SUSPECT = {"f32": (4, b"\x7f", b"\xff"), "bf16": (2, b"\x7f", b"\xff")}


def widen_bf16(data: bytes | memoryview) -> NDArray[np.float32]:
    """float32 values [n] of n bfloat16 bit patterns (little endian)."""
    bits = bytes(data)
    wide = bytearray(2 * len(bits))
    wide[2::4] = bits[0::2]
    wide[3::4] = bits[1::2]
    return np.frombuffer(wide, "<f4")


def narrow_bf16(values: NDArray[np.float32]) -> bytes | None:
    """Bit patterns of float32 values that bfloat16 holds exactly; None where one needs rounding."""
    wide = values.astype("<f4", copy=False).tobytes()
    count = len(wide) // 4
    if wide[0::4].count(0) != count or wide[1::4].count(0) != count:
        return None
    bits = bytearray(2 * count)
    bits[0::2] = wide[2::4]
    bits[1::2] = wide[3::4]
    return bytes(bits)


def surely_finite(data: bytes | memoryview, dtype: str) -> bool:
    """True only when no value is NaN, infinite or beyond 2^127; False may be a false alarm."""
    if dtype not in _SUSPECT:
        return False
    size, positive, negative = _SUSPECT[dtype]
    upper = bytes(data)[size - 1 :: size]
    return positive not in upper and negative not in upper
