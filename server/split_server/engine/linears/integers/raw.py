"""The bytes of matrices as oneDNN packs them, to be kept in a file and put back.

Where they lie and how is private to torch (torch/csrc/ATen: mkldnn/MKLDNNConversions.cpp), so they
are used only where a self-test finds that a matrix survives it.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import NamedTuple

import torch

from split_server.engine.linears.integers.choice import product_fault
from split_server.engine.linears.integers.onednn import OneDnnProduct, pack
from split_server.engine.linears.integers.product import LARGEST
from split_server.engine.linears.prepacked import OPERATOR_ERRORS

_TEST_SHAPE = (80, 200)


class Raw(NamedTuple):
    """``size`` bytes at ``address``; they end with the matrix that they belong to."""

    address: int
    size: int


class Form(NamedTuple):
    """Of packed matrices of one shape: their ``size`` in bytes, and how these are laid out."""

    size: int
    layout: bytes


def raw(packed: torch.Tensor) -> Raw:
    """Where the bytes of a packed matrix lie."""
    operators = torch.ops.mkldnn
    return Raw(int(operators.data_ptr(packed)), int(operators._nbytes(packed)))


def empty_packed(rows: int, columns: int) -> torch.Tensor:
    """A packed matrix of zeros [rows, columns], whose bytes others may take the place of."""
    return pack(torch.zeros((rows, columns), dtype=torch.int8))


@lru_cache(maxsize=64)
def form(rows: int, columns: int) -> Form:
    """Of matrices [rows, columns] on this processor and with this version of the library."""
    packed = empty_packed(rows, columns)
    layout = torch.ops.mkldnn._get_mkldnn_serialized_md(packed)
    return Form(raw(packed).size, bytes(layout.tolist()))


@lru_cache(maxsize=1)
def raw_fault() -> str:
    """The reason why packed bytes cannot be kept and put back here; empty when they can."""
    fault = product_fault(OneDnnProduct)
    if fault:
        return fault
    generator = torch.Generator().manual_seed(0)
    weight = torch.randint(-LARGEST, LARGEST + 1, _TEST_SHAPE, generator=generator)
    rows = torch.randint(-LARGEST, LARGEST + 1, (3, _TEST_SHAPE[1]), generator=generator)
    try:
        first, second = pack(weight.to(torch.int8)), empty_packed(*_TEST_SHAPE)
        source, target = raw(first), raw(second)
        if source.size != target.size or source.size != form(*_TEST_SHAPE).size:
            return "packed matrices of one shape differ in size"
        ctypes.memmove(target.address, ctypes.string_at(*source), target.size)
        found = OneDnnProduct(second, torch.ones(len(weight)), is_packed=True)(rows.float())
    except OPERATOR_ERRORS as error:
        return f"not available: {error!r:.200}"
    if torch.equal(found.long(), rows @ weight.T):
        return ""
    return "packed bytes that were put back are another matrix"
