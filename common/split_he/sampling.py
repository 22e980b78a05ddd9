"""Random polynomials: uniform ones from an agreed seed, errors and ternary ones from the system.

Errors are centred binomial, the sum of 42 fair bits minus 21 (variance 10.5, standard deviation
3.24), the distribution that SEAL uses; they never exceed 21, which makes error bounds hard bounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

import numpy as np

from split_he.bits import GROUP, GROUP_BYTES, unpack
from split_he.modular import Integers, Residues
from split_he.params import N, Q

ERROR_LIMIT: Final = 21
ERROR_VARIANCE: Final = 10.5
Entropy = Callable[[int], bytes]
"""n -> n bytes that nobody can predict: os.urandom."""

_COUNTS: Final = np.array([bin(word).count("1") for word in range(1 << 16)], dtype=np.int64)


def expand(label: bytes, seed: bytes, polynomials: int) -> Residues:
    """[polynomials, N] uniform residues from SHAKE-256(label || seed), the same on both sides."""
    shake = hashlib.shake_256(label + seed)
    return uniform(shake.digest, polynomials)


def uniform(stream: Entropy, polynomials: int) -> Residues:
    """[polynomials, N]: the first 54-bit numbers of ``stream`` that are below Q.

    A number is rejected with probability 4e-12, so a few spare ones nearly always suffice.
    """
    count, spare = polynomials * N, GROUP
    while True:
        values = unpack(stream((count + spare) // GROUP * GROUP_BYTES))
        if not (values[:count] >= Q).any():
            return values[:count].reshape(polynomials, N)
        values = values[values < Q]
        if len(values) >= count:
            return values[:count].reshape(polynomials, N)
        spare *= 2


def errors(entropy: Entropy, polynomials: int) -> Integers:
    """[polynomials, N] centred binomial errors."""
    words = np.frombuffer(entropy(polynomials * N * 6), dtype="<u2").reshape(3, -1)
    bits = _COUNTS[words[0]] + _COUNTS[words[1]] + _COUNTS[words[2] & 0x3FF]
    return np.asarray((bits - ERROR_LIMIT).reshape(polynomials, N), dtype=np.int64)


def ternary(entropy: Entropy, polynomials: int) -> Integers:
    """[polynomials, N] numbers uniform in -1, 0, 1."""
    count = polynomials * N
    kept = np.empty(0, dtype=np.uint8)
    while len(kept) < count:
        drawn = np.frombuffer(entropy(count - len(kept) + N // 32), dtype=np.uint8)
        kept = np.concatenate([kept, drawn[drawn < 255]])
    return np.asarray((kept[:count] % 3).astype(np.int64) - 1).reshape(polynomials, N)
