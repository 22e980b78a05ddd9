"""Scales for one adapter: nothing wraps modulo Q, and its two kinds of error are of one size.

With S = input_scale * weight_scale, a result is read back exactly from its coefficient as long as
S ||a_p|| ||h|| + (rounding and noise) < Q / 2 (Cauchy-Schwarz), so S is the largest that holds
for the longest row of A and the longest hidden state, less a margin of 5%. S is split so that two
errors have the same standard deviation for a hidden state of 1/16 of the bound: rounding of A,
0.289 ||h|| / weight_scale, and encryption noise, 3.24 ||A_k|| / input_scale. The error
polynomials of a query have N coefficients, more than the chunk, so the noise takes part from all
rows A_k of a group.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from split_he.errors import AdapterOutOfRange, UnsupportedShape
from split_he.layout import ACTIVATION_RMS, Packing, packing
from split_he.modular import Floats
from split_he.params import N, Q
from split_he.sampling import ERROR_LIMIT, ERROR_VARIANCE

HEADROOM: Final = 16.0
_MARGIN: Final = 0.95
_ROUNDING: Final = 1 / math.sqrt(12)
_BLIND_LIMIT: Final = 2 * ERROR_LIMIT * N + ERROR_LIMIT
"""|e u + e0 + e1 s| at one coefficient: two products of an error with a ternary polynomial."""


def choose(a: NDArray[np.float32], norm_bound: float | None = None) -> Packing:
    """The packing of adapter matrix A [r, H] with scales that fit its values.

    Raises UnsupportedShape, AdapterOutOfRange.
    """
    rank, hidden = _shape(a)
    bound = ACTIVATION_RMS * math.sqrt(hidden) if norm_bound is None else float(norm_bound)
    values = np.asarray(a, dtype=np.float64)
    longest = float(np.linalg.norm(values, axis=1).max()) if np.isfinite(values).all() else math.inf
    if longest == 0.0:
        return packing(hidden, rank, norm_bound=bound)
    if not (1e-12 < longest < 1e12 and 1e-6 < bound < 1e9):
        raise AdapterOutOfRange(f"rows of norm {longest:g} for hidden states of norm {bound:g}")
    total = Q / 2 / (longest * bound) * _MARGIN
    noise = math.sqrt(ERROR_VARIANCE) * _group_norms(values, packing(hidden, rank)).max()
    split = math.sqrt(total * _ROUNDING * bound / HEADROOM / noise)
    made = packing(hidden, rank, total / split, split, bound)
    check(values, made)
    return made


def check(a: Floats, plan: Packing) -> None:
    """Raise AdapterOutOfRange when a promised hidden state could wrap modulo Q under ``plan``."""
    if _shape(a) != (plan.rank, plan.hidden):
        raise UnsupportedShape(f"A is {a.shape}, the packing is for {(plan.rank, plan.hidden)}")
    longest = np.linalg.norm(a, axis=1).max()
    reach = plan.scale * (longest * plan.norm_bound + worst_error(a, plan).max())
    if not reach < Q / 2:
        raise AdapterOutOfRange(
            f"results reach {reach / Q * 2:.3g} of the modulus; choose smaller scales"
        )


def worst_error(a: Floats, plan: Packing) -> Floats:
    """[r]: a hard bound on |decrypted - A h| for every hidden state within the norm bound.

    Rounding A moves a row by at most sqrt(d)/2 steps. The query's error is at most 21 steps in each
    coefficient and meets all rounded rows of the group; rounding the hidden state adds half a
    step on the row itself. The blind adds at most 42 N + 21 at scale S.
    """
    half = 0.5 / plan.weight_scale
    rows = np.abs(a).sum(axis=1) + half * plan.hidden
    groups = _per_row(rows, plan)
    rounding = math.sqrt(plan.hidden) * half * plan.norm_bound
    noise = (ERROR_LIMIT * groups + 0.5 * rows) / plan.input_scale
    return np.asarray(rounding + noise + _BLIND_LIMIT / plan.scale, dtype=np.float64)


def typical_error(a: Floats, plan: Packing, norm: float) -> Floats:
    """[r]: the standard deviation of decrypted - A h for a hidden state of norm ``norm``."""
    rounding = norm * _ROUNDING / plan.weight_scale
    own = np.linalg.norm(a, axis=1) * _ROUNDING / plan.input_scale
    noise = math.sqrt(ERROR_VARIANCE) * _group_norms(a, plan) / plan.input_scale
    blind = math.sqrt(ERROR_VARIANCE * (4 / 3 * N + 1)) / plan.scale
    return np.asarray(np.sqrt(rounding**2 + own**2 + noise**2 + blind**2), dtype=np.float64)


def _group_norms(a: Floats, plan: Packing) -> Floats:
    """[r]: for each row, the Euclidean norm of all rows of its group."""
    return np.sqrt(_per_row((a**2).sum(axis=1), plan))


def _per_row(values: Floats, plan: Packing) -> Floats:
    """[r]: for each row, the sum of ``values`` over its group."""
    groups = np.arange(plan.rank) // plan.per_group
    return np.asarray(np.bincount(groups, weights=values)[groups], dtype=np.float64)


def _shape(a: NDArray[np.floating[Any]]) -> tuple[int, int]:
    if a.ndim != 2:
        raise UnsupportedShape(f"A has {a.ndim} dimensions, not 2")
    return a.shape[0], a.shape[1]
