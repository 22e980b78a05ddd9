"""Residues modulo Q as 54-bit numbers, four in 27 bytes, little endian, without a gap.

Four residues r0..r3 are the 216-bit number r0 + 2^54 r1 + 2^108 r2 + 2^162 r3. A polynomial of
2,048 residues has 13,824 bytes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_he.modular import Residues
from split_he.params import PRIME_BITS, N

GROUP: Final = 4
GROUP_BYTES: Final = GROUP * PRIME_BITS // 8
POLYNOMIAL_BYTES: Final = N // GROUP * GROUP_BYTES
_MASK: Final = np.uint64(2**PRIME_BITS - 1)


def pack(values: Residues) -> bytes:
    """Residues of any shape, a multiple of four of them, as bytes."""
    r0, r1, r2, r3 = values.reshape(-1, GROUP).T
    words = np.empty((r0.size, GROUP), dtype="<u8")
    words[:, 0] = r0 | _left(r1, 54)
    words[:, 1] = _right(r1, 10) | _left(r2, 44)
    words[:, 2] = _right(r2, 20) | _left(r3, 34)
    words[:, 3] = _right(r3, 30)
    return words.view(np.uint8).reshape(-1, 32)[:, :GROUP_BYTES].tobytes()


def unpack(data: bytes | memoryview) -> NDArray[np.uint64]:
    """The 54-bit numbers in ``data`` (a multiple of 27 bytes), flat; they may be Q or more."""
    padded = np.zeros((len(data) // GROUP_BYTES, 32), dtype=np.uint8)
    padded[:, :GROUP_BYTES] = np.frombuffer(data, dtype=np.uint8).reshape(-1, GROUP_BYTES)
    w0, w1, w2, w3 = padded.view("<u8").T
    values = np.empty((w0.size, GROUP), dtype=np.uint64)
    values[:, 0] = w0
    values[:, 1] = _right(w0, 54) | _left(w1, 10)
    values[:, 2] = _right(w1, 44) | _left(w2, 20)
    values[:, 3] = _right(w2, 34) | _left(w3, 30)
    values &= _MASK
    return values.reshape(-1)


def _left(values: Residues, bits: int) -> Residues:
    return values << np.uint64(bits)


def _right(values: Residues, bits: int) -> Residues:
    return values >> np.uint64(bits)
