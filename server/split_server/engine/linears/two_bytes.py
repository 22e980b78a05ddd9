"""Values as two bytes each, so that products of bytes keep 16 bits of every input.

A row of activations often has a few values that are a hundred times the others; with one byte a
value and one scale a row, the others lose most of their digits (Dettmers et al. 2022, LLM.int8(),
https://arxiv.org/abs/2208.07339, section 3). Two bytes are two rows for one reading of the matrix.
"""

from __future__ import annotations

import torch

# Of a value over its row's largest: the high byte, and of what that leaves the low one.
_HIGH, _LOW = 127.0, 254.0
# Rows whose largest value is below this count as zeros; _HIGH over it is finite.
SMALLEST = 2.0**-100
# Torch makes a tensor of each Python number at every use.
_HIGHS, _LOWS, _SMALLEST = map(torch.tensor, (_HIGH, _LOW, SMALLEST))


def split(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Whole numbers [2, ..., in] within +-127 of float32 ``values`` [..., in], as float32, and each
    row's largest size [..., 1].

    First the low, then the high bytes. ``values`` is used up. Every row is split by itself; one
    that is not finite has a size that is not.
    """
    largest = values.abs().amax(dim=-1, keepdim=True)
    largest = torch.maximum(largest, _SMALLEST)
    scaled = values.mul_(torch.div(_HIGHS, largest))
    rows = torch.empty((2, *values.shape))
    high = torch.round(scaled, out=rows[1])
    torch.sub(scaled, high, out=rows[0]).mul_(_LOWS).round_()
    return rows, largest


def joined(products: torch.Tensor, largest: torch.Tensor) -> torch.Tensor:
    """Products [..., out] of the values from those [2, ..., out] of their bytes.

    For matrices whose scales are divided by 127. ``products`` is used up.
    """
    return products[1].add_(products[0], alpha=1 / _LOW).mul_(largest)
