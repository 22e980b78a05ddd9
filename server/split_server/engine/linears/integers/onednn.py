"""Products of bytes by oneDNN.

The operators are private to torch (torch/csrc/ATen: quantized/cpu/qlinear.cpp), so they are used
only where a self-test finds them exact.
"""

from __future__ import annotations

import torch

from split_server.engine.linears.integers.product import SHIFT

# oneDNN lays matrices out in blocks of this many rows and columns, the last ones filled up.
_BLOCK = 64
_SHIFTS = torch.tensor(float(SHIFT))


def pack(weight: torch.Tensor) -> torch.Tensor:
    """int8 ``weight`` [out, in] as the kernel reads it, with the sums of its rows."""
    packed: torch.Tensor = torch.ops.onednn.qlinear_prepack(weight, None)
    return packed


class OneDnnProduct:
    """An IntegerProduct. For signed inputs oneDNN takes a path that is slower by orders of
    magnitude, for unsigned ones it shifts back by itself.
    """

    def __init__(
        self, weight: torch.Tensor, scales: torch.Tensor, *, is_packed: bool = False
    ) -> None:
        """``is_packed``: ``weight`` is as :func:`pack` gives it."""
        self._product = torch.ops.onednn.qlinear_pointwise.default
        self._packed = weight if is_packed else pack(weight)
        self._scales = scales
        self._zeros = torch.zeros(len(scales), dtype=torch.int64)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """float32 [..., out]."""
        weight = (self._packed, self._scales, self._zeros)
        output = (1.0, 0, torch.float32)
        shifted = rows.add(_SHIFTS).to(torch.uint8)
        found: torch.Tensor = self._product(
            shifted, 1.0, SHIFT, *weight, None, *output, "none", [], ""
        )
        return found

    @staticmethod
    def held_bytes(rows: int, columns: int) -> int:
        """The matrix and a sum of each row (int32), laid out in blocks; scales and zero points."""
        blocks = -(-rows // _BLOCK) * _BLOCK
        return blocks * (-(-columns // _BLOCK) * _BLOCK + 4) + rows * (4 + 8)
