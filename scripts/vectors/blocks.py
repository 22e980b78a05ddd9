"""Vectors of packed rows; their layout is described in tests/vectors/README.md.

Rounding is told again in float64, apart from what is tested: a mantissa of 8 bits, ties to even.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

_VALUES = 32
_HALVES = 1 << 16
_EXPONENT = 0x7C00
# Scales as their bits: 1, -0.5, the largest, the smallest, one that makes ties, zeros.
_NAMED = {
    "scale 1": 0x3C00,
    "a negative scale": 0xB800,
    "the largest scale": 0x7BFF,
    "the smallest scale": 0x0001,
    "ties both ways": 0x3C01,
    "zero": 0x0000,
    "the other zero": 0x8000,
}


def build() -> dict[str, Any]:
    """Some blocks to read, and a digest over every finite scale."""
    cases = [
        {"name": name, "blocks": _blocks([scale]).hex(), "bf16": _rounded([scale]).hex()}
        for name, scale in _NAMED.items()
    ]
    finite = [bits for bits in range(_HALVES) if bits & _EXPONENT != _EXPONENT]
    every = {
        "blocks": len(finite),
        "blocks_sha256": hashlib.sha256(_blocks(finite)).hexdigest(),
        "bf16_sha256": hashlib.sha256(_rounded(finite)).hexdigest(),
    }
    return {"format": 1, "cases": cases, "every_scale": every}


def _bytes(scales: NDArray[np.uint16]) -> NDArray[np.int8]:
    """Byte i of the block with scale bits s: 7 s + 37 i, of which the lowest 8 bits count."""
    places = np.arange(_VALUES, dtype=np.uint32)
    sums = 7 * scales.astype(np.uint32)[:, None] + 37 * places
    return (sums & 255).astype(np.uint8).view(np.int8)


def _blocks(bits: list[int]) -> bytes:
    scales = np.array(bits, "<u2")
    return np.concatenate(
        [scales[:, None].view(np.uint8), _bytes(scales).view(np.uint8)], 1
    ).tobytes()


def _rounded(bits: list[int]) -> bytes:
    scales = np.array(bits, "<u2")
    values = scales.view("<f2").astype(np.float64)[:, None] * _bytes(scales)
    mantissas, exponents = np.frexp(values)
    rounded = np.ldexp(np.rint(mantissas * 256) / 256, exponents).astype(np.float32)
    return (rounded.view(np.uint32) >> 16).astype("<u2").tobytes()
