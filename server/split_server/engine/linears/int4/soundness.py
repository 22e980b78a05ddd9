"""Whether the kernel for matrices of four bits works here: compared with float64."""

from __future__ import annotations

from functools import cache

import torch

from split_server.engine.linears.int4 import unpacked
from split_server.engine.linears.int4.matrix import GROUPS, MIDDLE, Int4Matrix
from split_server.engine.linears.prepacked import OPERATOR_ERRORS

_TEST_ROWS = (1, 3, 16, 64)
_SHAPE = (96, 512)


@cache
def int4_fault(dtype: torch.dtype) -> str:
    """The reason why matrices of four bits cannot be multiplied here; empty when they can."""
    try:
        faults = [_fault(group, dtype) for group in GROUPS]
    except OPERATOR_ERRORS as error:
        return f"not available: {error!r:.200}"
    return next(filter(None, faults), "")


def _fault(group: int, dtype: torch.dtype) -> str:
    generator = torch.Generator().manual_seed(group)
    values = torch.randint(0, 16, _SHAPE, generator=generator)
    sides = (_SHAPE[0], _SHAPE[1] // group)
    scales = torch.rand(sides, generator=generator).to(dtype)
    zeros = torch.randn(sides, generator=generator).to(dtype)
    matrix = Int4Matrix(*_SHAPE, group, dtype)
    matrix.put(0, values, scales, zeros)
    steps = (values.double() - MIDDLE).view(_SHAPE[0], -1, group)
    exact = (steps * scales[..., None].double() + zeros[..., None].double()).view(_SHAPE)
    x = torch.randn(max(_TEST_ROWS), _SHAPE[1], generator=generator).to(dtype)
    found = matrix.product(x)
    if not _close(found, x, exact, rounded=False):
        return f"its self-test fails with groups of {group}"
    for rows in _TEST_ROWS:
        if not torch.equal(matrix.product(x[:rows]), found[:rows]):
            return f"a row among {rows} differs from the same row among {len(x)}"
    layout = unpacked.known_layout()
    if layout and not _close(unpacked.product(matrix, layout, x), x, exact, rounded=True):
        return f"its self-test fails for many rows, with groups of {group}"
    return ""


def _close(found: torch.Tensor, x: torch.Tensor, exact: torch.Tensor, *, rounded: bool) -> bool:
    """Within one unit in the last place of the result, sixteen of float32 of |x| |w|, which bounds
    every partial sum, and where the matrix was ``rounded`` to the dtype one of that.
    """
    expected = x.double() @ exact.T
    norms = torch.outer(x.double().norm(dim=1), exact.norm(dim=1))
    last = torch.finfo(x.dtype).eps
    bound = last * expected.abs() + 16 * torch.finfo(torch.float32).eps * norms
    if rounded:
        bound += last * norms
    # A NaN compares false, so it counts as a fault.
    return bool(((found.double() - expected).abs() <= bound).all())
