"""Exact arithmetic modulo Q on whole arrays of 64-bit integers.

A product of two residues has 108 bits. Its low 64 bits come from wrapping integer multiplication;
the multiple of Q to take away is estimated in float64 and may be a few off, which leaves a number
of a few Q, exact modulo Q; a second, small step reduces that. IEEE float64 suffices: no long
double and no 128-bit integer. Numbers are *centred* (int64, in about -Q/2..Q/2) or *residues*
(uint64, 0..Q-1).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_he.params import Q

Integers = NDArray[np.int64]
Residues = NDArray[np.uint64]
Floats = NDArray[np.float64]

_INVERSE: Final = 1.0 / Q
TERMS: Final = 16
"""Products summed before a reduction: 16 keep the estimate within 512 Q, what 64 bits hold."""


def centre(values: Integers) -> Integers:
    """Any int64 within 512 Q, reduced to -Q/2..Q/2, at the edges up to 3,072 beyond.

    The quotient is at most 512 and has three relative roundings of 2^-53: 3,072 / 2^54 together.
    Q/2 + 3,072 is below 2^53 still, so float64 holds every result exactly.
    """
    quotient = values * _INVERSE
    multiples: Integers = np.rint(quotient, out=quotient).astype(np.int64)
    multiples *= Q
    np.subtract(values, multiples, out=multiples)
    return multiples


def residues(values: Integers) -> Residues:
    """Centred numbers as the unique residues 0..Q-1."""
    return np.asarray(values + ((values >> 63) & Q)).view(np.uint64)


def centred(values: Residues) -> Integers:
    """Residues 0..Q-1 as numbers in -Q/2..Q/2."""
    signed = values.view(np.int64)
    return np.asarray(signed - (signed > Q // 2) * np.int64(Q), dtype=np.int64)


def quotients(values: Integers) -> Floats:
    """values / Q, what :func:`times` and :func:`dot` want of a fixed factor."""
    return np.asarray(values / float(Q), dtype=np.float64)


def times(values: Integers, factor: Integers, factor_over_q: Floats) -> Integers:
    """values * factor modulo Q, centred; ``factor`` is centred, ``values`` within 140 Q."""
    return centre(times_loosely(values, factor, factor_over_q))


def times_loosely(values: Integers, factor: Integers, factor_over_q: Floats) -> Integers:
    """values * factor modulo Q, within (3.51 k + 1) Q for ``values`` within k Q, k up to 140.

    The quotient is at most k 2^53 and has three relative roundings of 2^-53 and one, of Q, of
    2^-54, hence 3.51 k; cutting off its fraction adds one.
    """
    estimate = (values * factor_over_q).astype(np.int64)
    estimate *= Q
    product = values * factor
    product -= estimate
    return product


def dot(left: Integers, left_floats: Floats, right: Integers, right_over_q: Floats) -> Integers:
    """The sum over j of left[j] * right[j] modulo Q, centred; both centred.

    ``left`` is [u, 2, N] (the halves of u ciphertexts) with its values as float64, ``right`` [u, N]
    (u plaintexts) with :func:`quotients`.
    """
    total = _block(left[:TERMS], left_floats[:TERMS], right[:TERMS], right_over_q[:TERMS])
    for start in range(TERMS, len(left), TERMS):
        part = slice(start, start + TERMS)
        total = centre(
            total + _block(left[part], left_floats[part], right[part], right_over_q[part])
        )
    return total


def _block(left: Integers, floats: Floats, right: Integers, over_q: Floats) -> Integers:
    estimate = np.einsum("jhn,jn->hn", floats, over_q)
    low = np.einsum("jhn,jn->hn", left, right)
    low -= estimate.astype(np.int64) * Q
    return centre(low)
