"""Attention of one new row for each of many sessions, whose caches lie anywhere, in two kernels.

Keys and values of a session are found through their addresses, so nothing is gathered or padded.
The positions are cut into pieces that are attended to side by side and joined after that
(Flash-Decoding, Dao et al. 2023, https://crfm.stanford.edu/2023/10/12/flashdecoding.html). Pieces
begin at fixed positions and are joined in order, so what a session gets does not depend on the
others. Needs Triton, which torch brings for CUDA.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import triton
import triton.language as tl

# Positions of a piece.
PIECE = 256
_LEAST_DOT = 16


@dataclass(frozen=True, slots=True)
class Places:
    """Where the caches of ``n`` sessions lie, on the device, int64.

    ``buffers`` [n, layers, 3]: the addresses of keys and values, [kv_heads, capacity, D] each, and
    that capacity. ``lengths`` [n]: positions that are held; -1 stands for no session. ``pieces``:
    at least as many as the longest has.
    """

    buffers: torch.Tensor
    lengths: torch.Tensor
    pieces: int


def attend_each(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    places: Places,
    layer: int,
    scaling: float,
    window: int | None = None,
    softcap: float | None = None,
) -> torch.Tensor:
    """Write the new rows ``keys`` and ``values`` [1, kv_heads, n, D] behind the held ones and
    attend with ``query`` [1, heads, n, D]; [1, n, heads, D], zeros where there is no session.
    """
    _, heads, count, width = query.shape
    kv_heads = keys.shape[1]
    rep = heads // kv_heads
    query, keys, values = (x if x.stride(3) == 1 else x.contiguous() for x in (query, keys, values))
    pieces = places.pieces
    sums = query.new_empty((count, heads, pieces, width), dtype=torch.float32)
    scale = query.new_empty((2, count, heads, pieces), dtype=torch.float32)
    out = query.new_empty((1, count, heads, width))
    wide = triton.next_power_of_2(width)
    _piece[(count, kv_heads, pieces)](
        query,
        keys,
        values,
        places.buffers[:, layer],
        places.buffers.stride(0),
        places.lengths,
        places.lengths.stride(0),
        sums,
        scale[0],
        scale[1],
        *(query.stride(2), query.stride(1)),
        *(keys.stride(2), keys.stride(1)),
        *(values.stride(2), values.stride(1)),
        scaling,
        softcap or 0.0,
        window or 0,
        pieces,
        REP=rep,
        WIDTH=width,
        ROWS=max(_LEAST_DOT, triton.next_power_of_2(rep)),
        WIDE=wide,
        BLOCK=32 if query.dtype == torch.float32 or wide > 128 else 64,
        PIECE=PIECE,
        SOFTCAP=softcap is not None,
        WINDOW=window is not None,
        num_warps=4,
    )
    _joined[(count, heads)](
        *(sums, scale[0], scale[1], places.lengths, places.lengths.stride(0)),
        *(out, heads, pieces),
        WIDTH=width,
        WIDE=wide,
        PIECE=PIECE,
        num_warps=2,
    )
    return out


@triton.jit  # type: ignore[untyped-decorator]
def _piece(  # type: ignore[no-untyped-def]
    query,
    new_keys,
    new_values,
    buffers,
    buffer_stride,
    lengths,
    length_stride,
    sums,
    tops,
    totals,
    query_row,
    query_head,
    key_row,
    key_head,
    value_row,
    value_head,
    scaling,
    softcap,
    window,
    pieces,
    REP: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
    PIECE: tl.constexpr,
    SOFTCAP: tl.constexpr,
    WINDOW: tl.constexpr,
):
    """One piece of one session for the query heads that share a head of keys; the first piece has
    the new row, and writes it.
    """
    session, head, piece = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths + session * length_stride).to(tl.int32)
    begin = piece * PIECE
    if (length < 0) | ((begin >= length) & (piece > 0)):
        return
    kind = tl.pointer_type(query.dtype.element_ty)
    at = buffers + session * buffer_stride
    capacity = tl.load(at + 2)
    key_rows = tl.load(at).to(kind) + head * capacity * WIDTH
    value_rows = tl.load(at + 1).to(kind) + head * capacity * WIDTH
    rows = tl.arange(0, ROWS)
    columns = tl.arange(0, WIDE)
    inside = columns < WIDTH
    real = (rows < REP)[:, None] & inside[None, :]
    heads = head * REP + rows
    asked = query + session * query_row + heads[:, None] * query_head + columns[None, :]
    q = tl.load(asked, mask=real, other=0.0)
    first = 0
    if WINDOW:
        first = tl.maximum(length + 1 - window, 0)
    top = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    acc = tl.zeros([ROWS, WIDE], tl.float32)
    if piece == 0:
        new_key = tl.load(new_keys + session * key_row + head * key_head + columns, mask=inside)
        new_value = tl.load(
            new_values + session * value_row + head * value_head + columns, mask=inside
        )
        new_at = length.to(tl.int64) * WIDTH + columns
        tl.store(key_rows + new_at, new_key, mask=inside)
        tl.store(value_rows + new_at, new_value, mask=inside)
        products = q.to(tl.float32) * tl.where(inside, new_key, 0.0).to(tl.float32)[None, :]
        top = tl.sum(products, 1) * scaling
        if SOFTCAP:
            top = softcap * (2.0 / (1.0 + tl.exp(-2.0 * top / softcap)) - 1.0)
        total = tl.full([ROWS], 1.0, tl.float32)
        acc = acc + tl.where(inside, new_value, 0.0).to(tl.float32)[None, :]
    end = tl.minimum(begin + PIECE, length)
    start = tl.maximum(begin, first // BLOCK * BLOCK)
    for block in range(start, end, BLOCK):
        positions = block + tl.arange(0, BLOCK)
        seen = (positions < end) & (positions >= first)
        shown = seen[:, None] & inside[None, :]
        offsets = positions.to(tl.int64)[:, None] * WIDTH + columns[None, :]
        k = tl.load(key_rows + offsets, mask=shown, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scaling
        if SOFTCAP:
            scores = softcap * (2.0 / (1.0 + tl.exp(-2.0 * scores / softcap)) - 1.0)
        scores = tl.where(seen[None, :], scores, float("-inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        # Where nothing was seen yet, there is nothing to scale either.
        anchor = tl.where(higher == float("-inf"), 0.0, higher)
        weights = tl.exp(scores - anchor[:, None])
        shrink = tl.exp(top - anchor)
        total = total * shrink + tl.sum(weights, 1)
        v = tl.load(value_rows + offsets, mask=shown, other=0.0)
        acc = acc * shrink[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        top = higher
    every = tl.num_programs(1) * REP
    place = (session * every + heads) * pieces + piece
    tl.store(tops + place, top, mask=rows < REP)
    tl.store(totals + place, total, mask=rows < REP)
    tl.store(sums + place.to(tl.int64)[:, None] * WIDTH + columns[None, :], acc, mask=real)


@triton.jit  # type: ignore[untyped-decorator]
def _joined(  # type: ignore[no-untyped-def]
    sums,
    tops,
    totals,
    lengths,
    length_stride,
    out,
    heads,
    pieces,
    WIDTH: tl.constexpr,
    WIDE: tl.constexpr,
    PIECE: tl.constexpr,
):
    """The pieces of one head of one session, joined in order."""
    session, head = tl.program_id(0), tl.program_id(1)
    columns = tl.arange(0, WIDE)
    inside = columns < WIDTH
    place = session * heads + head
    length = tl.load(lengths + session * length_stride).to(tl.int32)
    acc = tl.zeros([WIDE], tl.float32)
    total = 0.0
    top = float("-inf")
    count = tl.where(length < 0, 0, tl.maximum((length + PIECE - 1) // PIECE, 1))
    for piece in range(0, count):
        own = place * pieces + piece
        own_top = tl.load(tops + own)
        higher = tl.maximum(top, own_top)
        anchor = tl.where(higher == float("-inf"), 0.0, higher)
        shrink, grow = tl.exp(top - anchor), tl.exp(own_top - anchor)
        part = tl.load(sums + own.to(tl.int64) * WIDTH + columns, mask=inside, other=0.0)
        acc = acc * shrink + part * grow
        total = total * shrink + tl.load(totals + own) * grow
        top = higher
    result = tl.where(total > 0.0, acc / tl.where(total > 0.0, total, 1.0), 0.0)
    tl.store(out + place * WIDTH + columns, result.to(out.dtype.element_ty), mask=inside)
