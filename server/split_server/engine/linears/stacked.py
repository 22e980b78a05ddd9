"""Stacked int8 matrices: one product for all linear layers that read the same input.

Columns have a scale each, the square root of their root mean square, and after that rows have one
each. Columns of large weights then cost the others fewer digits; where the large activations are is
not known when a model is loaded, hence the root (cf. Xiao et al. 2022, SmoothQuant,
https://arxiv.org/abs/2211.10438, section 4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

from split_server.engine.linears import two_bytes
from split_server.engine.linears.integers.choice import integer_product
from split_server.engine.linears.integers.product import LARGEST, IntegerProduct
from split_server.engine.linears.shared import SharedProduct

# Values that are float32 at a time while a matrix is quantized.
_AT_ONCE = 1 << 20


class StackedProduct(SharedProduct):
    """About the products of some matrices [out, in] with one input."""

    def __init__(self, weights: Sequence[torch.Tensor], bias: torch.Tensor | None = None) -> None:
        """``bias``: float32, of all matrices one after the other."""
        found = whole_numbers(weights)
        product = integer_product(found.matrix, found.scales)
        self._take([len(weight) for weight in weights], product, found.columns, bias)

    @classmethod
    def of(
        cls,
        sizes: Sequence[int],
        product: IntegerProduct,
        columns: torch.Tensor,
        bias: torch.Tensor | None,
    ) -> StackedProduct:
        """Of matrices with ``sizes`` rows that were made whole numbers before."""
        made = cls.__new__(cls)
        made._take(sizes, product, columns, bias)
        return made

    def _take(
        self,
        sizes: Sequence[int],
        product: IntegerProduct,
        columns: torch.Tensor,
        bias: torch.Tensor | None,
    ) -> None:
        super().__init__(sizes, len(columns))
        self._product, self._columns, self._bias = product, columns, bias

    @property
    def factors(self) -> torch.Tensor:
        return self._columns

    def multiply(self, x: torch.Tensor) -> torch.Tensor:
        return self.multiply_wide(x).to(x.dtype)

    def multiply_wide(self, x: torch.Tensor) -> torch.Tensor:
        return self.multiply_factored(x * self._columns)

    def multiply_factored(self, x: torch.Tensor) -> torch.Tensor:
        rows, largest = two_bytes.split(x)
        product = two_bytes.joined(self._product(rows), largest)
        if self._bias is not None:
            product.add_(self._bias)
        return product


class WholeNumbers(NamedTuple):
    """``matrix`` int8 [out, in] of some matrices one below the other, ``scales`` [out] of its rows
    and ``columns`` [in], both float32.
    """

    matrix: torch.Tensor
    scales: torch.Tensor
    columns: torch.Tensor


def whole_numbers(weights: Sequence[torch.Tensor]) -> WholeNumbers:
    """Those of ``weights`` [out, in], all with the same input."""
    columns = _column_scales(weights)
    return WholeNumbers(*_rounded(weights, columns), columns)


def _column_scales(weights: Sequence[torch.Tensor]) -> torch.Tensor:
    """float32 [in]; 0 for a column of zeros, so that its inputs count for nothing."""
    squares = torch.zeros(weights[0].shape[1], dtype=torch.float64)
    for weight in weights:
        for part in _parts(weight):
            squares += part.float().square().sum(dim=0, dtype=torch.float64)
    rows = sum(len(weight) for weight in weights)
    return squares.div_(rows).pow_(0.25).float()


def _rounded(
    weights: Sequence[torch.Tensor], columns: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The matrix and the scales of its rows."""
    whole = torch.empty((sum(map(len, weights)), len(columns)), dtype=torch.int8)
    scales = torch.empty(len(whole))
    inverse = torch.where(columns > 0, columns.reciprocal(), 0.0)
    begin = 0
    for weight in weights:
        for part in _parts(weight):
            place = slice(begin, begin + len(part))
            scaled = part * inverse
            scale = scaled.abs().amax(dim=1).div_(LARGEST).clamp_(min=two_bytes.SMALLEST)
            whole[place] = scaled.div_(scale[:, None]).round_()
            # The values of a row are within +-1, their high bytes within +-127.
            scales[place] = scale.div_(LARGEST)
            begin = place.stop
    return whole, scales


def _parts(weight: torch.Tensor) -> Iterator[torch.Tensor]:
    """Its rows, some at a time."""
    step = max(1, _AT_ONCE // weight.shape[1])
    for begin in range(0, len(weight), step):
        yield weight.detach()[begin : begin + step]
