"""Numbers modulo Q as they travel in the clear: seven bytes each, little endian, without a gap.

54 bits would do; whole bytes cost a fifth of the host's time for a token less.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from split_he.modular import Residues
from split_he.params import Q
from split_masks.errors import MalformedNumbers

NUMBER_BYTES: Final = 7
_Q: Final = np.uint64(Q)
_MASK: Final = np.uint64(2 ** (8 * NUMBER_BYTES) - 1)


def numbers_bytes(count: int) -> int:
    """The exact length of ``count`` numbers."""
    return NUMBER_BYTES * count


def pack(values: Residues) -> bytes:
    """Residues [n] as bytes."""
    columns = np.ascontiguousarray(values, dtype="<u8").view(np.uint8).reshape(-1, 8)
    return columns[:, :NUMBER_BYTES].tobytes()


def unpack(data: bytes, count: int) -> Residues:
    """The ``count`` residues that :func:`pack` got, all below Q. Raises MalformedNumbers."""
    if len(data) != NUMBER_BYTES * count:
        raise MalformedNumbers(f"{len(data)} bytes instead of {NUMBER_BYTES * count}")
    # Every number is read with one byte of its neighbour, which the mask takes off.
    words = np.ndarray(count, "<u8", data + b"\0", strides=(NUMBER_BYTES,))
    values: Residues = words & _MASK
    if values.max() >= _Q:
        raise MalformedNumbers("a number is not below the modulus")
    return values
