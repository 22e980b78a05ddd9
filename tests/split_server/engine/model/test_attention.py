"""Attention over one session's cache against a plain float64 computation."""

from __future__ import annotations

import math

import pytest
import torch

from split_server.engine.model.attention import Masks, attend_many, attend_one

KV_HEADS, REP, WIDTH = 2, 3, 8
VARIANTS = [(None, None), (5, None), (None, 4.0), (5, 4.0), (100, None)]


def cached(length: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values as the cache shows them: views into larger buffers."""
    generator = torch.Generator().manual_seed(length)
    buffers = torch.randn(2, 1, KV_HEADS, length + 7, WIDTH, generator=generator).to(dtype)
    keys, values = buffers[:, :, :, :length]
    return keys, values


def queries(rows: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """[1, heads, rows, D] with the strides that a model's projection leaves."""
    generator = torch.Generator().manual_seed(100 + rows)
    packed = torch.randn(1, rows, KV_HEADS * REP, WIDTH, generator=generator).to(dtype)
    return packed.transpose(1, 2)


def reference(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    scaling: float,
    window: int | None,
    softcap: float | None,
) -> torch.Tensor:
    """[heads, n, D] in float64, one head and position after the other."""
    rows, length = query.shape[2], keys.shape[2]
    out = torch.zeros(KV_HEADS * REP, rows, WIDTH, dtype=torch.float64)
    for head in range(KV_HEADS * REP):
        for row in range(rows):
            last = length - rows + row
            first = 0 if window is None else max(0, last - window + 1)
            seen = slice(first, last + 1)
            scores = keys[0, head // REP, seen].double() @ query[0, head, row].double() * scaling
            if softcap is not None:
                scores = torch.tanh(scores / softcap) * softcap
            out[head, row] = torch.softmax(scores, -1) @ values[0, head // REP, seen].double()
    return out


@pytest.mark.parametrize(("window", "softcap"), VARIANTS)
@pytest.mark.parametrize("length", [1, 4, 5, 6, 40])
def test_one_row(length: int, window: int | None, softcap: float | None) -> None:
    query, (keys, values) = queries(1), cached(length)
    grouped = query.reshape(1, KV_HEADS, REP, WIDTH)
    out = attend_one(grouped, keys, values, 0.3, window, softcap)
    wanted = reference(query, keys, values, 0.3, window, softcap)
    torch.testing.assert_close(out.reshape(-1, 1, WIDTH).double(), wanted, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(("window", "softcap"), VARIANTS)
@pytest.mark.parametrize(("rows", "length"), [(2, 2), (9, 9), (2, 30), (9, 30), (29, 30)])
def test_many_rows(rows: int, length: int, window: int | None, softcap: float | None) -> None:
    query, (keys, values) = queries(rows), cached(length)
    out = attend_many(query, keys, values, 0.3, window, softcap, Masks())
    wanted = reference(query, keys, values, 0.3, window, softcap)
    torch.testing.assert_close(out[0].double(), wanted, atol=1e-6, rtol=1e-5)


def test_soft_capped_rows_in_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("split_server.engine.model.attention._SCORES_AT_ONCE", 64)
    query, (keys, values) = queries(20), cached(30)
    out = attend_many(query, keys, values, 0.3, 7, 4.0, Masks())
    wanted = reference(query, keys, values, 0.3, 7, 4.0)
    torch.testing.assert_close(out[0].double(), wanted, atol=1e-6, rtol=1e-5)


def test_bfloat16_rows_stay_within_their_rounding() -> None:
    query, (keys, values) = queries(9, torch.bfloat16), cached(60, torch.bfloat16)
    scaling = 1 / math.sqrt(WIDTH)
    out = attend_many(query, keys, values, scaling, None, None, Masks())
    wanted = reference(query, keys, values, scaling, None, None)
    torch.testing.assert_close(out[0].double(), wanted, atol=2e-2, rtol=2e-2)


def test_the_layers_of_a_pass_share_their_mask() -> None:
    masks = Masks()
    first = masks.additive(queries(4), 10, None)
    assert masks.additive(queries(4), 10, None) is first
    assert masks.additive(queries(4), 10, 3) is not first
