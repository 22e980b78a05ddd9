"""Kernels over rows and heads: each reads what it needs once and writes once.

Arithmetic is float32, rounded to the rows' dtype where it is written. Needs Triton.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

# Values of a row that a program of the gate has.
_GATE_BLOCK = 1024


def norm_rows(
    rows: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
    added: torch.Tensor | None = None,
    factor: float = 1.0,
) -> torch.Tensor:
    """``weight`` [H] times each of ``rows`` [..., H] over its root mean square, after ``factor``
    times ``added`` was added to them in place.
    """
    width = rows.shape[-1]
    found = torch.empty_like(rows)
    more = rows if added is None else added.contiguous()
    block = triton.next_power_of_2(width)
    _norm_rows[(rows.numel() // width,)](
        *(rows, more, weight, found, width, eps, factor),
        ADDS=added is not None,
        BLOCK=block,
        num_warps=min(max(block // 256, 1), 16),
    )
    return found


def norm_heads(heads: torch.Tensor, weights: torch.Tensor, eps: float) -> torch.Tensor:
    """``weights`` [heads, D] times ``heads`` [1, heads, n, D] over their root mean squares, in
    place; whatever their strides, values of a head lie one after the other.
    """
    _, count, rows, width = heads.shape
    _norm_heads[(rows, count)](
        *(heads, weights, heads.stride(2), heads.stride(1), width, eps),
        BLOCK=triton.next_power_of_2(width),
        num_warps=1,
    )
    return heads


def turn_heads(heads: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """The first T values of ``heads`` [1, heads, n, D] turned by ``cos`` and ``sin`` [n, T], those
    of the first half with those of the second, in place; strides as :func:`norm_heads`.
    """
    _, count, rows, _ = heads.shape
    half = cos.shape[-1] // 2
    _turn_heads[(rows, count)](
        *(heads, cos, sin, heads.stride(2), heads.stride(1), half),
        BLOCK=triton.next_power_of_2(half),
        num_warps=1,
    )
    return heads


def gate_rows(both: torch.Tensor) -> torch.Tensor:
    """SiLU of the first half of ``both`` [..., 2 I] times the second, [..., I]."""
    inner = both.shape[-1] // 2
    found = both.new_empty(*both.shape[:-1], inner)
    block = min(_GATE_BLOCK, triton.next_power_of_2(inner))
    grid = (both.numel() // (2 * inner), triton.cdiv(inner, block))
    _gate_rows[grid](both, found, inner, BLOCK=block, num_warps=4)
    return found


@triton.jit  # type: ignore[untyped-decorator]
def _norm_rows(  # type: ignore[no-untyped-def]
    rows,
    added,
    weight,
    found,
    width,
    eps,
    factor,
    ADDS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    begin = tl.program_id(0).to(tl.int64) * width
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    row = tl.load(rows + begin + columns, mask=inside, other=0.0)
    if ADDS:
        more = tl.load(added + begin + columns, mask=inside, other=0.0)
        row = (row.to(tl.float32) + factor * more.to(tl.float32)).to(row.dtype)
        tl.store(rows + begin + columns, row, mask=inside)
    wide = row.to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(wide * wide, 0) / width + eps)
    weights = tl.load(weight + columns, mask=inside, other=0.0)
    tl.store(found + begin + columns, (wide * scale * weights).to(row.dtype), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _norm_heads(  # type: ignore[no-untyped-def]
    heads, weights, row_stride, head_stride, width, eps, BLOCK: tl.constexpr
):
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    columns = tl.arange(0, BLOCK)
    inside = columns < width
    place = heads + row * row_stride + head * head_stride + columns
    found = tl.load(place, mask=inside, other=0.0)
    wide = found.to(tl.float32)
    scale = 1.0 / tl.sqrt(tl.sum(wide * wide, 0) / width + eps)
    own = tl.load(weights + head * width + columns, mask=inside, other=0.0)
    tl.store(place, (wide * scale * own).to(found.dtype), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _turn_heads(  # type: ignore[no-untyped-def]
    heads, cos, sin, row_stride, head_stride, half, BLOCK: tl.constexpr
):
    row, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    columns = tl.arange(0, BLOCK)
    inside = columns < half
    place = heads + row * row_stride + head * head_stride + columns
    angles = row * 2 * half + columns
    first = tl.load(place, mask=inside, other=0.0)
    second = tl.load(place + half, mask=inside, other=0.0).to(tl.float32)
    wide = first.to(tl.float32)
    cos_1 = tl.load(cos + angles, mask=inside, other=0.0).to(tl.float32)
    sin_1 = tl.load(sin + angles, mask=inside, other=0.0).to(tl.float32)
    cos_2 = tl.load(cos + angles + half, mask=inside, other=0.0).to(tl.float32)
    sin_2 = tl.load(sin + angles + half, mask=inside, other=0.0).to(tl.float32)
    tl.store(place, (wide * cos_1 - second * sin_1).to(first.dtype), mask=inside)
    tl.store(place + half, (second * cos_2 + wide * sin_2).to(first.dtype), mask=inside)


@triton.jit  # type: ignore[untyped-decorator]
def _gate_rows(both, found, inner, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    columns = part * BLOCK + tl.arange(0, BLOCK)
    inside = columns < inner
    gate = tl.load(both + row * 2 * inner + columns, mask=inside, other=0.0)
    up = tl.load(both + row * 2 * inner + inner + columns, mask=inside, other=0.0)
    wide = gate.to(tl.float32)
    product = wide / (1.0 + tl.exp(-wide)) * up.to(tl.float32)
    tl.store(found + row * inner + columns, product.to(gate.dtype), mask=inside)
