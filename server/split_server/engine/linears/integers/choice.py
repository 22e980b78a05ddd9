"""Which library multiplies bytes here: only one that is exact, and of two the faster one.

FBGEMM reads a matrix faster for the few rows of decode steps, oneDNN multiplies many rows faster.
int8 is for few sessions, so few rows decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch

from split_server.engine.giving_way import working_seconds
from split_server.engine.linears.integers.fbgemm import FbgemmProduct, fills_blocks
from split_server.engine.linears.integers.onednn import OneDnnProduct
from split_server.engine.linears.integers.product import (
    LARGEST,
    SHIFT,
    IntegerProduct,
    Kernel,
)
from split_server.engine.linears.prepacked import OPERATOR_ERRORS

_TEST_ROWS = (1, 3, 17, 128)
_TEST_SHAPE = (48, 320)
# One session and four, in two bytes a value.
_RACE_ROWS = (2, 8)
_RACE_SHAPE = (1024, 896)
# Two kernels by turns with so many matrices of about a megabyte find them in memory, not in a
# cache.
_RACE_MATRICES = 24
_ROUNDS = 5
# Another layout that gains less is not worth the rows of a prefill.
_WORTH = 0.9


def integer_product(weight: torch.Tensor, scales: torch.Tensor) -> IntegerProduct:
    """Of int8 weight [out, in] and float32 scales [out], where ``product_fault`` finds none."""
    return kernel_for(weight.shape[1])(weight, scales)


def held_bytes(rows: int, columns: int) -> int:
    """Bytes that the product of a matrix [rows, columns] holds, from its shape alone."""
    return kernel_for(columns).held_bytes(rows, columns)


def product_fault(kernel: Kernel = OneDnnProduct) -> str:
    """The reason why bytes cannot be multiplied here; empty when they can.

    Processors without VNNI may add pairs of products in 16 bits, which overflows for the largest
    values; the first row and the first two channels hold those.
    """
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-LARGEST, LARGEST + 1, _TEST_SHAPE, generator=generator)
    weight[0], weight[1] = LARGEST, -LARGEST
    rows = torch.randint(-SHIFT, SHIFT, (max(_TEST_ROWS), _TEST_SHAPE[1]), generator=generator)
    rows[0] = SHIFT - 1
    expected = rows @ weight.T
    try:
        product = kernel(weight.to(torch.int8), torch.ones(len(weight)))
        found = [product(rows[:count].float()) for count in _TEST_ROWS]
    except OPERATOR_ERRORS as error:
        return f"not available: {error!r:.200}"
    if all(torch.equal(f.long(), expected[: len(f)]) for f in found):
        return ""
    return "the product of bytes is not exact"


def kernel_for(columns: int) -> Kernel:
    """Of matrices with so many columns."""
    return kernel_of_few_rows() if fills_blocks(columns) else OneDnnProduct


@lru_cache(maxsize=1)
def kernel_of_few_rows() -> Kernel:
    """Measured once in a process, in about a tenth of a second."""
    if product_fault(FbgemmProduct):
        return OneDnnProduct
    onednn, fbgemm = _race((OneDnnProduct, FbgemmProduct))
    return FbgemmProduct if fbgemm < _WORTH * onednn else OneDnnProduct


def _race(candidates: Sequence[Kernel]) -> list[float]:
    """Seconds of each for few rows: the least of some rounds in turn, over all row counts."""
    weight = torch.ones(_RACE_SHAPE, dtype=torch.int8)
    scales = torch.ones(len(weight))
    laps = [[kernel(weight, scales) for _ in range(_RACE_MATRICES)] for kernel in candidates]
    best = [0.0] * len(laps)
    with torch.inference_mode():
        for count in _RACE_ROWS:
            rows = torch.zeros(count, _RACE_SHAPE[1])
            times = [[_lap(products, rows) for products in laps] for _ in range(_ROUNDS)]
            best = [
                total + min(lap) for total, lap in zip(best, zip(*times, strict=True), strict=True)
            ]
    return best


def _lap(products: Sequence[IntegerProduct], rows: torch.Tensor) -> float:
    begin = working_seconds()
    for product in products:
        product(rows)
    return working_seconds() - begin
