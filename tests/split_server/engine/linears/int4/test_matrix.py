"""Matrices of four bits: the product of what they stand for, row by row."""

from __future__ import annotations

import pytest
import torch

from split_server.engine.linears.int4 import unpacked
from split_server.engine.linears.int4.matrix import GROUPS, Int4Matrix, kernel_group
from split_server.engine.linears.int4.soundness import int4_fault

needs_int4 = pytest.mark.skipif(
    bool(int4_fault(torch.bfloat16)), reason="this machine has no product of four bits"
)
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def _matrix(
    rows: int, columns: int, group: int, dtype: torch.dtype
) -> tuple[Int4Matrix, torch.Tensor]:
    """A random matrix, and in float64 what it stands for."""
    torch.manual_seed(rows + group)
    values = torch.randint(0, 16, (rows, columns))
    scales = torch.rand(rows, columns // group).to(dtype)
    zeros = torch.randn(rows, columns // group).to(dtype)
    matrix = Int4Matrix(rows, columns, group, dtype)
    for begin in range(0, rows, 64):
        part = slice(begin, begin + 64)
        matrix.put(begin, values[part], scales[part], zeros[part])
    steps = (values.double() - 8).view(rows, -1, group)
    exact = steps * scales.double()[..., None] + zeros.double()[..., None]
    return matrix, exact.view(rows, columns)


def _apart(found: torch.Tensor, x: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest difference in parts of |x| |w|."""
    norms = torch.outer(x.double().norm(dim=1), exact.norm(dim=1))
    return float(((found.double() - x.double() @ exact.T).abs() / norms).max())


@needs_int4
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("rows", [1, 5, 64])
def test_the_product_is_that_of_what_the_matrix_stands_for(
    dtype: torch.dtype, group: int, rows: int
) -> None:
    matrix, exact = _matrix(96, 512, group, dtype)
    x = torch.randn(rows, 512).to(dtype)
    found = matrix.product(x)
    assert (found.shape, found.dtype) == ((rows, 96), dtype)
    assert _apart(found, x, exact) < torch.finfo(dtype).eps + 1e-6


@needs_int4
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(96, 64), (24, 160), (200, 512)])
def test_many_rows_give_the_same_but_for_rounding(
    dtype: torch.dtype, shape: tuple[int, int]
) -> None:
    matrix, exact = _matrix(*shape, 32, dtype)
    layout = unpacked.known_layout()
    assert layout, "the order of this processor's kernel is not known: prefill would be slow"
    x = torch.randn(100, shape[1]).to(dtype)
    assert _apart(unpacked.product(matrix, layout, x), x, exact) < 2 * torch.finfo(dtype).eps + 1e-6


@needs_int4
def test_slabs_give_what_the_whole_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, _ = _matrix(328, 64, 32, torch.float32)
    x = torch.randn(70, 64)
    whole = unpacked.product(matrix, unpacked.known_layout(), x)
    monkeypatch.setattr(unpacked, "_AT_ONCE", 64 * 64)
    torch.testing.assert_close(unpacked.product(matrix, unpacked.known_layout(), x), whole)


@needs_int4
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "columns"), [(96, 160), (896, 64), (24, 1024), (576, 1536)])
def test_a_row_does_not_depend_on_the_rows_beside_it(
    dtype: torch.dtype, rows: int, columns: int
) -> None:
    matrix, _ = _matrix(rows, columns, 32, dtype)
    x = (torch.randn(64, columns) * torch.logspace(-2, 2, 64)[:, None]).to(dtype)
    alone = torch.cat([matrix.product(x[i : i + 1]) for i in range(64)])
    for first, last in ((0, 64), (3, 20), (60, 64), (1, 2)):
        assert torch.equal(matrix.product(x[first:last]), alone[first:last])


@needs_int4
def test_it_holds_what_it_says() -> None:
    for rows, columns, group in ((96, 160, 32), (24, 512, 128)):
        matrix, _ = _matrix(rows, columns, group, torch.bfloat16)
        held = matrix.packed.nbytes + matrix.scales.nbytes
        assert Int4Matrix.held_bytes(rows, columns, group, 2) == held


def test_groups_of_any_multiple_of_32_are_some_of_the_kernels() -> None:
    sizes = (32, 96, 128, 576, 1024, 48)
    assert [kernel_group(size) for size in sizes] == [32, 32, 128, 64, 256, 0]
