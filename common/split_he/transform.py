"""The negacyclic number-theoretic transform modulo Q, exact, on batches of polynomials.

``forward`` takes [..., N] coefficients to [..., N] values; value i is the polynomial at
psi^(2 rev(i) + 1), where psi is the smallest primitive 2N-th root of unity and rev reverses eleven
bits: the order of Longa and Naehrig (2016, algorithms 1 and 2), and of SEAL. Products of values are
products of polynomials modulo x^N + 1. The last stages, whose butterflies are close together, work
on a transposed copy, so that every numpy loop is long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from split_he.modular import Floats, Integers, centre, quotients, times, times_loosely
from split_he.params import N, Q

_BITS: Final = N.bit_length() - 1
_ROWS: Final = 64
"""Butterflies with a distance of N / _ROWS or more run in natural order."""
_COLUMNS: Final = N // _ROWS
_BLOCK: Final = 8


def forward(values: Integers) -> Integers:
    """[..., N] centred coefficients as centred values at the roots, in bit-reversed order."""
    return _in_blocks(values, _forward)


def inverse(values: Integers) -> Integers:
    """The centred coefficients of what :func:`forward` gave."""
    return _in_blocks(values, _inverse)


def _in_blocks(values: Integers, transform: Callable[[Integers], Integers]) -> Integers:
    """A few polynomials at a time, so that they stay in the processor's cache."""
    flat = values.reshape(-1, N)
    made = np.empty_like(flat)
    for start in range(0, len(flat), _BLOCK):
        made[start : start + _BLOCK] = transform(flat[start : start + _BLOCK])
    return made.reshape(values.shape)


def _forward(work: Integers) -> Integers:
    """A butterfly takes numbers within k Q to numbers within (4.51 k + 1) Q.

    Starting from 0.5, four stages end below 330 Q.
    """
    work = work.copy()
    for stage in range(_BITS):
        groups = 1 << stage
        if groups == _ROWS:
            work = _transposed(work, _ROWS, _COLUMNS)
        roots, over_q = _FORWARD[stage]
        pairs = work.reshape(-1, *_pairs(groups))
        low, high = pairs[:, :, 0], times_loosely(pairs[:, :, 1], roots, over_q)
        np.subtract(low, high, out=pairs[:, :, 1])
        low += high
        if stage % 4 == 3:
            work = centre(work)
    return centre(_transposed(work, _COLUMNS, _ROWS))


def _inverse(work: Integers) -> Integers:
    """A butterfly takes numbers within k Q to numbers within (7.02 k + 1) Q.

    Starting from 0.5, three stages end below 235 Q.
    """
    work = _transposed(work, _ROWS, _COLUMNS)
    for stage in reversed(range(_BITS)):
        groups = 1 << stage
        roots, over_q = _INVERSE[stage]
        pairs = work.reshape(-1, *_pairs(groups))
        low, high = pairs[:, :, 0], pairs[:, :, 1]
        difference = low - high
        low += high
        pairs[:, :, 1] = times_loosely(difference, roots, over_q)
        if groups == _ROWS:
            work = _transposed(work, _COLUMNS, _ROWS)
        if stage % 3 == 2:
            work = centre(work)
    return times(work, *_SCALE)


def _pairs(groups: int) -> tuple[int, ...]:
    """Shape of a polynomial whose butterflies, in ``groups`` groups, are along the second axis."""
    distance = N // groups // 2
    return (groups, 2, distance) if groups < _ROWS else (groups // _ROWS, 2, distance, _ROWS)


def _transposed(work: Integers, rows: int, columns: int) -> Integers:
    turned = work.reshape(-1, rows, columns).transpose(0, 2, 1)
    return np.ascontiguousarray(turned).reshape(-1, N)


def _smallest_root() -> int:
    """The smallest psi with psi^N = -1 modulo Q."""
    power = (Q - 1) // (2 * N)
    root = next(r for r in (pow(g, power, Q) for g in range(2, 1000)) if pow(r, N, Q) == Q - 1)
    square, best = root * root % Q, root
    for _ in range(N - 1):
        root = root * square % Q
        best = min(best, root)
    return best


def _reversed(index: int) -> int:
    return int(format(index, f"0{_BITS}b")[::-1], 2)


def _centred(values: list[int]) -> Integers:
    return np.array([v - Q if v > Q // 2 else v for v in values], dtype=np.int64)


def _stage(powers: list[int], groups: int) -> tuple[Integers, Floats]:
    """The roots of one stage, shaped for broadcasting over its butterflies."""
    roots = _centred(powers[groups : 2 * groups])
    if groups < _ROWS:
        shaped = roots.reshape(groups, 1)
    else:
        shaped = np.ascontiguousarray(roots.reshape(_ROWS, -1).T)[:, None, :]
    return shaped, quotients(shaped)


def _tables() -> tuple[list[tuple[Integers, Floats]], list[tuple[Integers, Floats]]]:
    root = _smallest_root()
    ascending = [1]
    for _ in range(2 * N - 1):
        ascending.append(ascending[-1] * root % Q)
    there = [ascending[_reversed(i)] for i in range(N)]
    back = [ascending[-_reversed(i) % (2 * N)] for i in range(N)]
    stages = [1 << stage for stage in range(_BITS)]
    return [_stage(there, groups) for groups in stages], [_stage(back, g) for g in stages]


_FORWARD, _INVERSE = _tables()
_N_INVERSE = _centred([pow(N, -1, Q)])
_SCALE = (_N_INVERSE, quotients(_N_INVERSE))
