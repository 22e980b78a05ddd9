"""The positions that the last tokens attended to least (SnapKV: Li et al. 2024,
https://arxiv.org/abs/2404.14469).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_wire.hiding.spans import MOST_SPANS, Spans, gaps, union

# Positions that are hidden together: one alone is rarely a thought, and spans are few.
_BLOCK = 16


def least_attended(row: NDArray[np.floating], share: float, fixed: Spans) -> Spans:
    """What is hidden so that about ``share`` of the positions stays seen, ``fixed`` ones always;
    ``row``: the weight of each position, of which hidden ones have none.
    """
    length = len(row)
    # Every second block at most is one span.
    block = _BLOCK * -(-length // (2 * _BLOCK * MOST_SPANS))
    blocks = [
        (first, min(first + block, end))
        for start, end in gaps(fixed, length)
        for first in range(start, end, block)
    ]
    blocks.sort(key=lambda span: float(row[span[0] : span[1]].mean()))
    left, chosen = length - round(share * length), list[tuple[int, int]]()
    for start, end in blocks:
        if end - start > left:
            break
        chosen.append((start, end))
        left -= end - start
    return union(tuple(sorted(chosen)), ())
