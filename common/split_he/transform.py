"""The negacyclic number-theoretic transform modulo Q, exact, on batches of polynomials.

``forward`` takes [..., N] coefficients to [..., N] values; value i is the polynomial at
psi^(2 rev(i) + 1), where psi is the smallest primitive 2N-th root of unity and rev reverses eleven
bits: the order of Longa and Naehrig (2016, algorithms 1 and 2), and of SEAL. Products of values are
products of polynomials modulo x^N + 1. The last stages, whose butterflies are close together, work
on a transposed copy, so that every numpy loop is long.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from split_he.modular import Floats, Integers, centre, quotients, times
from split_he.params import N, Q

_BITS: Final = N.bit_length() - 1
_ROWS: Final = 64
"""Butterflies with a distance of N / _ROWS or more run in natural order."""
_COLUMNS: Final = N // _ROWS


def forward(values: Integers) -> Integers:
    """[..., N] centred coefficients as centred values at the roots, in bit-reversed order."""
    work = values.reshape(-1, N).copy()
    groups = 1
    while groups < _ROWS:
        _apart(work.reshape(-1, groups, 2, N // groups // 2), *_FORWARD[groups])
        groups *= 2
    work = _transposed(work, _ROWS, _COLUMNS)
    while groups < N:
        inner = groups // _ROWS
        _apart(work.reshape(-1, inner, 2, N // groups // 2, _ROWS), *_FORWARD[groups])
        groups *= 2
    return centre(_transposed(work, _COLUMNS, _ROWS)).reshape(values.shape)


def inverse(values: Integers) -> Integers:
    """The centred coefficients of what :func:`forward` gave."""
    work = _transposed(centre(values).reshape(-1, N), _ROWS, _COLUMNS)
    groups = N // 2
    while groups >= _ROWS:
        inner = groups // _ROWS
        _together(work.reshape(-1, inner, 2, N // groups // 2, _ROWS), *_INVERSE[groups])
        groups //= 2
    work = _transposed(work, _COLUMNS, _ROWS)
    while groups >= 1:
        _together(work.reshape(-1, groups, 2, N // groups // 2), *_INVERSE[groups])
        groups //= 2
    return times(work, *_SCALE).reshape(values.shape)


def _apart(work: Integers, roots: Integers, over_q: Floats) -> None:
    high = times(work[:, :, 1], roots, over_q)
    low = work[:, :, 0]
    np.subtract(low, high, out=work[:, :, 1])
    low += high


def _together(work: Integers, roots: Integers, over_q: Floats) -> None:
    low, high = work[:, :, 0], work[:, :, 1]
    difference = low - high
    work[:, :, 0] = centre(low + high)
    work[:, :, 1] = times(difference, roots, over_q)


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


def _tables() -> tuple[dict[int, tuple[Integers, Floats]], dict[int, tuple[Integers, Floats]]]:
    root = _smallest_root()
    ascending = [1]
    for _ in range(2 * N - 1):
        ascending.append(ascending[-1] * root % Q)
    there = [ascending[_reversed(i)] for i in range(N)]
    back = [ascending[-_reversed(i) % (2 * N)] for i in range(N)]
    stages = [1 << k for k in range(_BITS)]
    return {m: _stage(there, m) for m in stages}, {m: _stage(back, m) for m in stages}


_FORWARD, _INVERSE = _tables()
_N_INVERSE = _centred([pow(N, -1, Q)])
_SCALE = (_N_INVERSE, quotients(_N_INVERSE))
