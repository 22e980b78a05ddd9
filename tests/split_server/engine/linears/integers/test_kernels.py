"""Products of bytes: exact, the same from both libraries, and in as much memory as is planned."""

from __future__ import annotations

import ctypes
import sys

import pytest
import torch

from split_server.engine.linears.integers.choice import kernel_for, product_fault
from split_server.engine.linears.integers.fbgemm import FbgemmProduct, fills_blocks
from split_server.engine.linears.integers.onednn import OneDnnProduct

needs_both = pytest.mark.skipif(
    bool(product_fault() or product_fault(FbgemmProduct)),
    reason="one of the libraries has no exact product here",
)


def _matrix(rows: int, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(rows)
    weight = torch.randint(-127, 128, (rows, columns), generator=generator, dtype=torch.int8)
    return weight, torch.rand(rows, generator=generator) / 1000


@needs_both
@pytest.mark.parametrize(("rows", "columns"), [(48, 512), (1, 1), (130, 896), (64, 4864)])
def test_both_libraries_give_the_same_bits(rows: int, columns: int) -> None:
    weight, scales = _matrix(rows, columns)
    one, other = OneDnnProduct(weight, scales), FbgemmProduct(weight, scales)
    for shape in ((1, columns), (2, 1, columns), (2, 3, 5, columns), (2, 70, columns)):
        inputs = torch.randint(-128, 128, shape).float()
        found = other(inputs)
        assert found.shape == (*shape[:-1], rows)
        assert torch.equal(found, one(inputs))


@needs_both
def test_the_product_is_the_exact_sum_scaled_once() -> None:
    weight, scales = _matrix(96, 1024)
    inputs = torch.randint(-128, 128, (7, 1024))
    exact = (inputs @ weight.long().T).float() * scales
    assert torch.equal(FbgemmProduct(weight, scales)(inputs.float()), exact)


@needs_both
def test_packing_leaves_the_setting_of_the_process_as_it_was() -> None:
    before = torch.backends.quantized.engine
    FbgemmProduct(*_matrix(48, 512))
    assert torch.backends.quantized.engine == before


def test_columns_that_fill_their_blocks_badly_go_to_onednn() -> None:
    assert [columns for columns in (64, 576, 896, 960, 1536, 4864) if fills_blocks(columns)] == [
        896,
        960,
        1536,
        4864,
    ]
    assert kernel_for(576) is OneDnnProduct


class _Heap(ctypes.Structure):
    """mallinfo2(3)."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def _used() -> int:
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = _Heap
    heap = libc.mallinfo2()
    return int(heap.hblkhd + heap.uordblks)


@needs_both
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not hasattr(ctypes.CDLL(None), "mallinfo2"),
    reason="needs glibc 2.33",
)
@pytest.mark.parametrize(("rows", "columns"), [(96, 512), (130, 896), (1152, 896), (896, 4864)])
def test_a_matrix_holds_what_the_plan_says(rows: int, columns: int) -> None:
    weight, scales = _matrix(rows, columns)
    FbgemmProduct(weight, scales)
    before = _used()
    held = [FbgemmProduct(weight, scales) for _ in range(8)]
    each = (_used() - before) / len(held)
    planned = FbgemmProduct.held_bytes(rows, columns)
    # A mapping of its own ends with its page.
    assert each - 2 * 4096 <= planned <= 1.05 * each
