"""Matrices of four bits a value, as torch's kernel for processors reads them.

The operators are private to torch (torch/csrc/ATen: native/cpu/int4mm_kernel.cpp), so they are used
only where a self-test finds them sound (``soundness``).
"""

from __future__ import annotations

import torch

# Groups of columns with a scale and a zero point of their own; the kernel takes no others.
GROUPS = (32, 64, 128, 256)
GROUP = GROUPS[0]
# A value v of 0 to 15 stands for (v - MIDDLE) * scale + zero.
LARGEST, MIDDLE = 15, 8
# The kernel lays out this many rows together, the last ones filled up with zeros.
BLOCK = 64


class Int4Matrix:
    """A matrix [out, in] in the kernel's order, filled by ``put``; products with rows [n, in].

    ``dtype``: of scales and zero points, and of the rows.
    """

    def __init__(self, rows: int, columns: int, group: int, dtype: torch.dtype) -> None:
        blocks = _blocks(rows)
        self.rows, self.columns, self.group = rows, columns, group
        self.packed = torch.empty((blocks, columns // 2), dtype=torch.uint8)
        self.scales = torch.zeros((columns // group, blocks, 2), dtype=dtype)

    def put(
        self, begin: int, values: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor
    ) -> None:
        """Rows from ``begin`` on, a multiple of BLOCK: ``values`` [n, in] of 0 to 15, ``scales``
        and ``zeros`` [n, in / group]; n is a multiple of BLOCK but for the last rows.
        """
        count, whole = len(values), _blocks(len(values))
        padded = torch.nn.functional.pad(values.int(), (0, 0, 0, whole - count))
        converted = torch.ops.aten._convert_weight_to_int4pack_for_cpu(padded, 1)
        self.packed[begin : begin + whole] = converted
        self.scales[:, begin : begin + count, 0] = scales.T
        self.scales[:, begin : begin + count, 1] = zeros.T

    def product(self, x: torch.Tensor) -> torch.Tensor:
        """[n, out] of x [n, in], both in the dtype of the scales."""
        found: torch.Tensor = torch.ops.aten._weight_int4pack_mm_for_cpu(
            x, self.packed, self.group, self.scales
        )
        return found if found.shape[1] == self.rows else found[:, : self.rows]

    @staticmethod
    def held_bytes(rows: int, columns: int, group: int, item_bytes: int) -> int:
        """Bytes of a matrix [rows, columns] with scales of ``item_bytes``."""
        return _blocks(rows) * (columns // 2 + columns // group * 2 * item_bytes)


def kernel_group(group: int) -> int:
    """The largest of GROUPS that divides a group of this many columns; 0 where none does."""
    return max((size for size in GROUPS if group % size == 0), default=0)


def _blocks(rows: int) -> int:
    return -(-rows // BLOCK) * BLOCK
