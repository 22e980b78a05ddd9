"""Products of bytes by FBGEMM, which is made for few rows (https://arxiv.org/abs/2101.05615).

Torch has it on x86 alone. The operators are private to torch (torch/csrc/ATen:
quantized/cpu/qlinear.cpp), so they are used only where a self-test finds them exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from split_server.engine.linears.integers.product import SHIFT

_ENGINE = "fbgemm"
# FBGEMM lays matrices out in blocks of so many rows and columns, the last ones filled up, and
# each matrix begins at a multiple of 64 bytes (fbgemm: PackingTraits-inl.h, avx512_vnni).
_ROWS, _COLUMNS = 48, 512
_AROUND = 1 << 10
# Columns that fill their blocks badly cost more to read than the kernel gains.
_MOST_FILLED_UP = 1.2


class FbgemmProduct:
    """An IntegerProduct. Where its ``hidden_bytes`` lie in memory cannot be asked for."""

    def __init__(self, weight: torch.Tensor, scales: torch.Tensor) -> None:
        self._product = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
        self.hidden_bytes = self.held_bytes(*weight.shape)
        zeros = torch.zeros(len(scales), dtype=torch.int64)
        with _engine():
            # Public functions make quantized tensors of floats; these are whole numbers already.
            whole = torch._make_per_channel_quantized_tensor(weight, scales.double(), zeros, 0)
            self._packed: Any = torch.ops.quantized.linear_prepack(whole, None)

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """float32 [..., out]."""
        # The kernel makes shifted bytes of them by itself.
        found: torch.Tensor = self._product(rows, 1.0, SHIFT, self._packed)
        return found

    @staticmethod
    def held_bytes(rows: int, columns: int) -> int:
        """The matrix in blocks; scale, zero point and sum of each row."""
        blocks = -(-rows // _ROWS) * _ROWS
        return blocks * _columns(columns) + rows * (4 + 4 + 4) + _AROUND


def fills_blocks(columns: int) -> bool:
    """Whether a matrix of so many columns is worth it."""
    return _columns(columns) <= _MOST_FILLED_UP * columns


def _columns(columns: int) -> int:
    return -(-columns // _COLUMNS) * _COLUMNS


@contextmanager
def _engine() -> Iterator[None]:
    """torch packs by a setting of the process, and multiplies by what was packed.

    It warns that quantized tensors will go one day; the self-test says when.
    """
    before = torch.backends.quantized.engine
    torch.backends.quantized.engine = _ENGINE
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*quantized tensor", category=UserWarning)
            yield
    finally:
        torch.backends.quantized.engine = before
