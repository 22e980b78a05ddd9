"""Products of many rows: the matrix unpacked a slab at a time, then multiplied in its dtype.

The kernel for packed matrices unpacks a value again for every few rows, so its time grows with
them; above some number of rows it pays to unpack once. A slab is small, so memory stays bounded.
"""

from __future__ import annotations

from functools import cache

import torch

from split_server.engine.linears.int4.matrix import BLOCK, MIDDLE, Int4Matrix

# Values that are unpacked at a time: few enough for a core's own cache.
_AT_ONCE = 1 << 20
# In every byte of eight, the lower half.
_LOW = 0x0F0F0F0F0F0F0F0F


@cache
def known_layout() -> int:
    """The rows that this processor's kernel keeps together, a column after the other: each byte
    has a value of the first half of them, and in its upper half one of the second. Found by
    packing a matrix; 0 where the order is another one.
    """
    generator = torch.Generator().manual_seed(0)
    values = torch.randint(0, 16, (2 * BLOCK, 64), generator=generator)
    matrix = Int4Matrix(values.shape[0], values.shape[1], 32, torch.float32)
    matrix.put(0, values, torch.ones(2 * BLOCK, 2), torch.full((2 * BLOCK, 2), float(MIDDLE)))
    expected = values.T.float()
    for rows in (64, 32, 16):
        if torch.equal(unpacked(matrix, rows, 0, 2 * BLOCK), expected):
            return rows
    return 0


def product(matrix: Int4Matrix, layout: int, x: torch.Tensor) -> torch.Tensor:
    """[n, out] of x [n, in], as ``Int4Matrix.product`` but for the order of sums, and for scales,
    zero points and values that are rounded to the dtype of ``x``.
    """
    out = x.new_empty(len(x), matrix.rows)
    step = max(_AT_ONCE // matrix.columns // BLOCK, 1) * BLOCK
    for begin in range(0, matrix.rows, step):
        end = min(begin + step, len(matrix.packed))
        slab = out[:, begin:end]
        slab.copy_((x @ unpacked(matrix, layout, begin, end))[:, : slab.shape[1]])
    return out


def unpacked(matrix: Int4Matrix, layout: int, begin: int, end: int) -> torch.Tensor:
    """[in, end - begin]: the rows from ``begin`` to ``end``, multiples of BLOCK, transposed."""
    columns, dtype = matrix.columns, matrix.scales.dtype
    # Eight bytes at a time, which torch masks and shifts eight times as fast.
    words = matrix.packed[begin:end].view(-1, columns, layout // 2).view(torch.int64)
    halves = torch.empty((columns, len(words), 2, words.shape[2]), dtype=torch.int64)
    halves[:, :, 0] = (words & _LOW).transpose(0, 1)
    halves[:, :, 1] = ((words >> 4) & _LOW).transpose(0, 1)
    values = halves.view(torch.uint8).view(columns, end - begin).to(dtype)
    scales, zeros = matrix.scales[:, begin:end].float().unbind(-1)
    least = (zeros - MIDDLE * scales).to(dtype)[:, None]
    grouped = values.view(-1, matrix.group, end - begin)
    torch.addcmul(least, grouped, scales.to(dtype)[:, None], out=grouped)
    return values
