"""Values as two bytes each, so that products of bytes keep 16 bits of every input.

A row of activations often has a few values that are a hundred times the others; with one byte a
value and one scale a row, the others lose most of their digits (Dettmers et al. 2022, LLM.int8(),
https://arxiv.org/abs/2208.07339, section 3). Two bytes are two rows for one reading of the matrix.
"""

from __future__ import annotations

import torch

from split_server.engine.linears.integers import SHIFT

# Largest high byte times 256: v lies within +-_STEPS, and v + _OFFSET within two unsigned bytes.
_STEPS = 127.0 * 256.0
_OFFSET = SHIFT * 256 + SHIFT
# Near 1.5 * 2^23 the last place of a float32 is 1: the sum rounds to the nearest whole number,
# and its low bits are that number.
_ROUNDING = 1.5 * 2.0**23 + _OFFSET
# Rows whose largest value is below this count as zeros; _STEPS over it is finite.
SMALLEST = 2.0**-100
# From a whole number to its low and to its high byte.
_SHIFTS = torch.tensor([0, 8], dtype=torch.int32)


def split(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Bytes [2, ..., in] of float32 ``values`` [..., in], and each row's largest size [..., 1].

    First the low, then the high bytes, each shifted by 128. ``values`` is used up. Every row is
    split by itself; one that is not finite has a size that is not.
    """
    largest = values.abs().amax(dim=-1, keepdim=True).clamp_(min=SMALLEST)
    whole = values.mul_(largest.reciprocal().mul_(_STEPS)).add_(_ROUNDING).view(torch.int32)
    shifts = _SHIFTS.view(2, *[1] * whole.dim())
    # Conversion to a byte keeps the lowest eight bits.
    return torch.bitwise_right_shift(whole, shifts).to(torch.uint8), largest


def joined(products: torch.Tensor, largest: torch.Tensor) -> torch.Tensor:
    """Products [..., out] of the values from those [2, ..., out] of their bytes.

    For matrices whose scales are divided by 127. ``products`` is used up.
    """
    return products[1].add_(products[0], alpha=1 / 256).mul_(largest)
