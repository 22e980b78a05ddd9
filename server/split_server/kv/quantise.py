"""Keys and values as whole numbers of 8 bits: keys by channel, values by position.

KIVI (Liu et al. 2024, arXiv:2402.02750): a channel of keys keeps its size from one position to the
next, so that each channel of a block of 16 positions has a scale of its own; values have one for
each position. A number is scale x code, with codes from -127 to 127. Scales are bfloat16: they
reach as far as any dtype of a cache, and are rounded before the codes are worked out, so that they
bring no error of their own. What was expanded and is quantised again gives the same codes, as long
as its blocks are the same.

Blocks lie at multiples of 16 positions of the sequence, whatever run they are in, so that the first
and the last one of a run may be shorter.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import torch

from split_server.kv.block_key import BLOCK
from split_server.kv.buffers import Shape

LARGEST_CODE = 127
SCALE_DTYPE = torch.bfloat16
# Whatever is smaller than so much is 0: its inverse would be no number.
_SMALLEST_SCALE = 2.0**-120


class NotFinite(RuntimeError):
    """Keys or values that no code stands for."""

    def __init__(self) -> None:
        super().__init__("keys or values are not finite")


class Coded(NamedTuple):
    """Codes int8 [..., n, head_dim] and scales bfloat16: of keys [..., blocks, head_dim], of values
    [..., n, 1].
    """

    keys: torch.Tensor
    values: torch.Tensor
    key_scales: torch.Tensor
    value_scales: torch.Tensor


def block_count(start: int, end: int) -> int:
    """Blocks that the positions from ``start`` to ``end`` lie in."""
    return (end - 1) // BLOCK - start // BLOCK + 1


def scale_shape(heads: int, width: int, start: int, end: int) -> Shape:
    """Scales of one layer, those of the keys before those of the values."""
    return heads, block_count(start, end) * width + end - start


def parts_of(codes: torch.Tensor, scales: torch.Tensor) -> Coded:
    """Those of ``codes`` [..., 2, heads, n, head_dim] and ``scales`` [..., heads, numbers], as
    views.
    """
    count, width = codes.shape[-2:]
    of_keys = scales[..., : scales.shape[-1] - count]
    return Coded(
        codes.select(-4, 0),
        codes.select(-4, 1),
        of_keys.view(*of_keys.shape[:-1], of_keys.shape[-1] // width, width),
        scales[..., scales.shape[-1] - count :].unsqueeze(-1),
    )


def quantise(keys: torch.Tensor, values: torch.Tensor, start: int, into: Coded) -> None:
    """Write the codes of ``keys`` and ``values`` [..., n, head_dim], whose first row is the
    position ``start``. Raises NotFinite.
    """
    whole = torch.tensor(True, device=keys.device)
    for first, last, size in _pieces(start, start + keys.shape[-2]):
        part = slice(first - start, last - start)
        rows = _blocks(keys[..., part, :].float(), size)
        scales = into.key_scales[..., _blocks_of(start, first, last), :]
        whole = whole & _encode(rows, -2, _blocks(into.keys[..., part, :], size), scales, keys)
    whole = whole & _encode(values.float(), -1, into.values, into.value_scales.squeeze(-1), keys)
    if not bool(whole):
        raise NotFinite


def expand(
    coded: Coded, start: int, first: int, last: int, keys: torch.Tensor, values: torch.Tensor
) -> None:
    """Write the positions from ``first`` to ``last`` into ``keys`` and ``values`` [..., last -
    first, head_dim], of rows whose first is the position ``start``.
    """
    for begin, end, size in _pieces(first, last):
        own, out = slice(begin - start, end - start), slice(begin - first, end - first)
        scales = coded.key_scales[..., _blocks_of(start, begin, end), None, :].float()
        codes = _blocks(coded.keys[..., own, :], size)
        torch.mul(codes, scales, out=_blocks(keys[..., out, :], size))
    own = slice(first - start, last - start)
    torch.mul(coded.values[..., own, :], coded.value_scales[..., own, :].float(), out=values)


def _encode(
    rows: torch.Tensor, along: int, codes: torch.Tensor, scales: torch.Tensor, like: torch.Tensor
) -> torch.Tensor:
    """Codes and ``scales`` of ``rows`` float32, of which all ``along`` one dimension share one;
    whether all of them are finite.
    """
    largest = torch.maximum(rows.amax(along), rows.amin(along).neg_())
    whole = torch.isfinite(largest).all()
    exact = (largest / LARGEST_CODE).clamp_(max=_largest_scale(like.dtype))
    scales.copy_(exact.masked_fill_(exact < _SMALLEST_SCALE, 1.0))
    quotients = rows / scales.float().unsqueeze(along)
    codes.copy_(quotients.round_().clamp_(-LARGEST_CODE, LARGEST_CODE))
    return whole


def _pieces(first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Positions from ``first`` to ``last`` in pieces of whole blocks, and what lies before and
    behind them; with each the positions of a block.
    """
    whole, end = -(-first // BLOCK) * BLOCK, last - last % BLOCK
    if whole > end:
        yield first, last, last - first
        return
    if first < whole:
        yield first, whole, whole - first
    if whole < end:
        yield whole, end, BLOCK
    if end < last:
        yield end, last, last - end


def _blocks_of(start: int, first: int, last: int) -> slice:
    before = start // BLOCK
    return slice(first // BLOCK - before, (last - 1) // BLOCK + 1 - before)


def _blocks(rows: torch.Tensor, size: int) -> torch.Tensor:
    """``rows`` [..., n, head_dim] as [..., blocks, size, head_dim]."""
    return rows.view(*rows.shape[:-2], rows.shape[-2] // size, size, rows.shape[-1])


@cache
def _largest_scale(dtype: torch.dtype) -> float:
    """The largest scale of which every multiple is finite in ``dtype``, rounded as scales are."""
    exact = torch.tensor(torch.finfo(dtype).max / LARGEST_CODE, dtype=torch.float32)
    below = exact.view(torch.int32) & ~0xFFFF
    return float(below.view(torch.float32))
