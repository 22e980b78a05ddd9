"""What a product of whole numbers is, whichever library computes it."""

from __future__ import annotations

from typing import Final, Protocol

import torch

LARGEST: Final = 127
# Kernels multiply unsigned by signed bytes; so inputs are shifted by half of the range, and what
# that adds is taken off again.
SHIFT: Final = 128


class IntegerProduct(Protocol):
    """``scales * (rows @ weight.T)`` for rows [..., in] and int8 weight [out, in].

    Sums are exact, and each is scaled once, so the kernels give the same bits. The packed matrix
    can be neither copied, pickled nor moved.
    """

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """float32 [..., out] of float32 whole numbers from -128 to 127; others give anything."""
        ...


class Kernel(Protocol):
    """A library's way to keep an int8 matrix [out, in] with ``scales`` [out], float32."""

    def __call__(self, weight: torch.Tensor, scales: torch.Tensor) -> IntegerProduct: ...

    def held_bytes(self, rows: int, columns: int) -> int:
        """Bytes that the product of a matrix [rows, columns] holds, from its shape alone."""
        ...
