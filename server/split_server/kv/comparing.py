"""How far kept keys and values are from those that were computed again."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from split_server.kv.block_key import BLOCK
from split_server.kv.cache import KVCache
from split_server.kv.run import Span

# Sums in another order round differently; these are beyond what slices of a prefill do
# (docs/kv-reuse.md has the largest that were seen).
_BOUNDS = {torch.float32: 1e-4, torch.bfloat16: 3e-2, torch.float16: 4e-3}
# Of a model whose matrices are integers: a difference in the last bit may move a rounded input.
_ROUNDED_BOUND = 3e-2


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
    worst = 0.0
    part = slice(first - span.run.start, span.end - span.run.start)
    for index, kept in zip(range(len(cache.layers)), span.run.layers, strict=True):
        for right, known in zip(cache.rows(index, first, span.end), kept, strict=True):
            worst = max(worst, _of_rows(right, known[:, part]))
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
