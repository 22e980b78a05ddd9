"""How far kept keys and values are from those that were computed again."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from split_server.kv.block_key import BLOCK
from split_server.kv.cache import KVCache
from split_server.kv.run import Span
from split_wire.tiers import Tier

# Sums in another order round differently; these are beyond what slices of a prefill do
# (docs/kv-reuse.md has the largest that were seen).
_BOUNDS = {torch.float32: 1e-4, torch.bfloat16: 3e-2, torch.float16: 4e-3}
# Of a model whose matrices are integers: a difference in the last bit may move a rounded input.
_ROUNDED_BOUND = 3e-2
# Whole numbers of 8 bits, and what is computed on them (docs/kv-reuse.md). What is approximate has
# a name of its own, so that the same was computed both times, perhaps on such numbers.
_INT8_BOUND = 1e-1


def bounds_for(dtype: torch.dtype, *, rounded: bool = False) -> dict[Tier, float]:
    """:func:`bound_for` rows of each tier that is kept."""
    exact = bound_for(dtype, rounded=rounded)
    rounded_too = exact + _INT8_BOUND
    return {"exact": exact, "int8": rounded_too, "approximate": rounded_too}


def bound_for(dtype: torch.dtype, *, rounded: bool = False) -> float:
    """The largest relative difference of a block that another slicing may make; ``rounded``: the
    layers round what goes into their matrices.
    """
    return max(_BOUNDS[dtype], _ROUNDED_BOUND if rounded else 0.0)


def largest_difference(cache: KVCache, spans: Sequence[Span], start: int = 0) -> float:
    """Of the positions of ``spans`` from ``start`` on, those of ``cache`` being right: over all
    layers, keys and values and blocks the largest norm of a difference over that of the block.

    Infinite where one is not finite or of another shape.
    """
    worst = 0.0
    with torch.no_grad():
        for span in spans:
            first = max(span.start, start)
            if first < span.end:
                worst = max(worst, _of_span(cache, span, first))
    return worst


def _of_span(cache: KVCache, span: Span, first: int) -> float:
    span.run.wait()
    if cache.depth != len(span.run.layers):
        return math.inf
    worst = 0.0
    for index in range(cache.depth):
        known = span.run.rows(index, first, span.end)
        for right, other in zip(cache.rows(index, first, span.end), known, strict=True):
            worst = max(worst, _of_rows(right, other))
    return worst


def _of_rows(right: torch.Tensor, known: torch.Tensor) -> float:
    """Of rows [kv_heads, n, head_dim]."""
    if right.shape != known.shape:
        return math.inf
    right, known = right.float().cpu(), known.float()
    worst = 0.0
    for one, other in zip(torch.split(right, BLOCK, 1), torch.split(known, BLOCK, 1), strict=True):
        size, off = float(one.norm()), float((one - other).norm())
        ratio = off / size if size else (math.inf if off else 0.0)
        worst = max(worst, ratio if math.isfinite(ratio) else math.inf)
    return worst
