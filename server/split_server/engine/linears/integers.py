"""Exact products of whole numbers: bytes of inputs by an int8 matrix, as oneDNN multiplies them.

The operators are private to torch (torch/csrc/ATen: quantized/cpu/qlinear.cpp), so they are used
only where a self-test finds them exact.
"""

from __future__ import annotations

import torch

from split_server.engine.linears.prepacked import OPERATOR_ERRORS

LARGEST = 127
# oneDNN multiplies unsigned by signed bytes; for signed inputs it takes a path that is slower by
# orders of magnitude. So inputs are shifted by half of the range, and the operator shifts back.
SHIFT = 128
# oneDNN lays matrices out in blocks of this many rows and columns, the last ones filled up.
_BLOCK = 64
_TEST_ROWS = (1, 3, 17, 128)
_TEST_SHAPE = (48, 320)


class IntegerProduct:
    """``scales * ((rows - 128) @ weight.T)`` for bytes rows [..., in] and int8 weight [out, in].

    ``scales`` [out], float32. The packed matrix can be neither copied, pickled nor moved.
    """

    def __init__(self, weight: torch.Tensor, scales: torch.Tensor) -> None:
        self._product = torch.ops.onednn.qlinear_pointwise.default
        self._packed = torch.ops.onednn.qlinear_prepack(weight, None)
        self._scales = scales
        self._zeros = torch.zeros(len(scales), dtype=torch.int64)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """float32 [..., out]."""
        weight = (self._packed, self._scales, self._zeros)
        output = (1.0, 0, torch.float32)
        found: torch.Tensor = self._product(
            rows, 1.0, SHIFT, *weight, None, *output, "none", [], ""
        )
        return found

    @staticmethod
    def held_bytes(rows: int, columns: int) -> int:
        """Bytes that the product of a matrix [rows, columns] holds, from its shape alone.

        The matrix and a sum of each row (int32), laid out in blocks; scales and zero points.
        """
        blocks = -(-rows // _BLOCK) * _BLOCK
        return blocks * (-(-columns // _BLOCK) * _BLOCK + 4) + rows * (4 + 8)


def product_fault() -> str:
    """The reason why bytes cannot be multiplied here; empty when they can.

    Processors without VNNI may add pairs of products in 16 bits, which overflows for the largest
    values; the first row and the first two channels hold those.
    """
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-LARGEST, LARGEST + 1, _TEST_SHAPE, generator=generator)
    weight[0], weight[1] = LARGEST, -LARGEST
    rows = torch.randint(0, 256, (max(_TEST_ROWS), _TEST_SHAPE[1]), generator=generator)
    rows[0] = 255
    expected = (rows - SHIFT) @ weight.T
    try:
        product = IntegerProduct(weight.to(torch.int8), torch.ones(len(weight)))
        found = [product(rows[:count].to(torch.uint8)) for count in _TEST_ROWS]
    except OPERATOR_ERRORS as error:
        return f"not available: {error!r:.200}"
    if all(torch.equal(f.long(), expected[: len(f)]) for f in found):
        return ""
    return "the product of bytes is not exact"
