"""Linear layers whose weights lie in the order in which oneDNN's kernels read them.

A plain matrix is read row by row, which for few input rows reaches about half of the memory's
bandwidth; the blocked order reaches nearly all of it. The operators are private to torch
(torch/csrc/ATen: mkldnn/Linear.cpp), so they are used only where a self-test finds them sound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from split_server.engine.linears.shared import SharedPart, SharedProduct

# Packing orders the matrix for products with about this many rows; others stay correct.
_ROWS_HINT = 16
_TEST_ROWS = (1, 3, 17, 128)
# What a missing, changed or unsuitable private operator raises.
OPERATOR_ERRORS = (RuntimeError, AttributeError, TypeError)


class PackedLinear(torch.nn.Module):
    """``x @ weight.T + bias`` for x [..., in] and a packed weight [out, in].

    The packed matrix has no storage of its own kind: it can be neither copied, pickled nor moved.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.nn.Parameter | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.bias = bias
        self._product = torch.ops.mkldnn._linear_pointwise.default
        self._packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach(), _ROWS_HINT)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in] to [..., out]."""
        product: torch.Tensor = self._product(x, self._packed, self.bias, "none", [], "")
        return product


class PackedProduct(SharedProduct):
    """Products of some packed matrices [out, in] with one input."""

    def __init__(self, packed: PackedLinear, sizes: Sequence[int]) -> None:
        """``packed``: of all matrices one below the other; ``sizes``: the rows of each."""
        super().__init__(sizes, packed.in_features)
        self._packed = packed

    def multiply(self, x: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = self._packed(x)
        return product


class PackedPart(SharedPart):
    """``x @ weight.T + bias`` for one of the matrices of a ``PackedProduct``."""


class Place(NamedTuple):
    """The place of a linear layer in its model."""

    parent: torch.nn.Module
    name: str
    linear: torch.nn.Linear

    def put(self, layer: torch.nn.Module) -> None:
        """Replace the linear layer by ``layer``."""
        setattr(self.parent, self.name, layer)


def linear_places(module: torch.nn.Module) -> Iterator[Place]:
    """Every linear layer inside ``module``, in the order of its layers; replace none on the way."""
    for parent in module.modules():
        for name, child in parent.named_children():
            if type(child) is torch.nn.Linear:
                yield Place(parent, name, child)


def packing_fault(linear: torch.nn.Linear) -> str:
    """The reason why ``linear`` cannot be packed here; empty when it can.

    Compares with ``functional.linear`` on random inputs. Both round differently ordered sums: the
    difference may be one unit in the last place of the result, and eight units of the dtype in
    which sums are kept (float32), relative to |x| |w|, which bounds every partial sum.
    """
    weight, bias = linear.weight, linear.bias
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(max(_TEST_ROWS), weight.shape[1], generator=generator).to(weight.dtype)
    try:
        packed: Any = PackedLinear(weight, bias)
        for rows in _TEST_ROWS:
            if not _close(packed(x[:rows]), x[:rows], weight, bias):
                return f"its self-test fails at {rows} rows"
    except OPERATOR_ERRORS as error:
        return f"not available: {str(error).splitlines()[0] if str(error) else error!r}"
    return ""


def _close(
    found: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None
) -> bool:
    expected = functional.linear(x, weight, bias).float()
    norms = torch.outer(_norms(x), _norms(weight))
    size = expected.abs() if bias is None else expected.abs() + bias.float().abs()
    last_place = torch.finfo(weight.dtype).eps * size
    sums = 8 * torch.finfo(torch.float32).eps * norms
    # A NaN compares false, so it counts as a fault.
    return bool(((found.float() - expected).abs() <= last_place + sums).all())


def _norms(matrix: torch.Tensor) -> torch.Tensor:
    norms: torch.Tensor = torch.linalg.vector_norm(matrix, dim=1, dtype=torch.float32)
    return norms
