"""Each kernel against float64, on a CUDA device or, with TRITON_INTERPRET=1, in Triton's
interpreter; nothing to be seen where there is neither.
"""

from __future__ import annotations

import os

import pytest
import torch

pytest.importorskip("triton", reason="no Triton")
_CUDA = torch.cuda.is_available()
if not _CUDA and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("no CUDA device", allow_module_level=True)

from split_server.engine.model.plan.fused.kernels import (  # noqa: E402
    gate_rows,
    norm_heads,
    norm_rows,
    turn_heads,
)
from split_server.engine.model.plan.fused.parts import (  # noqa: E402
    FusedNorm,
    FusedStream,
)

DEVICE = "cuda" if _CUDA else "cpu"
# The interpreter computes with numpy, which has no bfloat16.
DTYPES = [torch.float32, torch.float16, *([torch.bfloat16] if _CUDA else [])]
EPS = 1e-6


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    made = torch.randn(*shape, generator=torch.manual_seed(seed))
    return made.to(DEVICE, dtype)


def normed(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    wide = rows.double()
    return wide * (wide.square().mean(-1, keepdim=True) + EPS).rsqrt() * weight.double()


def assert_rounded_once(found: torch.Tensor, exact: torch.Tensor, least: float = 0.0) -> None:
    """``least``: an error of the arithmetic itself, of the result."""
    bound = max(torch.finfo(found.dtype).eps, least) * exact.abs() + 2e-6
    assert ((found.double() - exact).abs() <= bound).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [64, 96, 896, 5000])
def test_rows_are_normed(dtype: torch.dtype, width: int) -> None:
    rows, weight = random(1, 5, width, dtype=dtype), random(width, seed=1)
    assert_rounded_once(norm_rows(rows, weight, EPS), normed(rows, weight))


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_added_is_rounded_as_a_sum_and_normed_after_that(dtype: torch.dtype) -> None:
    rows, added = random(1, 4, 96, dtype=dtype), random(1, 4, 96, dtype=dtype, seed=2)
    weight = random(96, seed=3)
    wanted = (rows.double() + 0.22 * added.double()).to(dtype)
    found = norm_rows(rows, weight, EPS, added, 0.22)
    torch.testing.assert_close(rows, wanted, atol=1e-6, rtol=torch.finfo(dtype).eps)
    assert_rounded_once(found, normed(rows, weight))


def test_a_stream_is_the_sum_of_what_was_added_whoever_asks_first() -> None:
    rows, first, second = random(3, 1, 4, 32)
    before = rows.clone()
    stream, norm = FusedStream(rows), FusedNorm(random(32, seed=4), EPS)
    stream.add(first, 1.0)
    stream.add(second, 0.5)
    found = stream.normed(norm)
    torch.testing.assert_close(stream.rows, before + first + 0.5 * second)
    torch.testing.assert_close(found, norm(stream.rows))
    stream.add(first, 2.0)
    torch.testing.assert_close(stream.rows, before + 3.0 * first + 0.5 * second)
    assert torch.equal(rows, before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [16, 80])
def test_heads_among_others_are_normed_and_turned_in_place(dtype: torch.dtype, width: int) -> None:
    whole = random(1, 5, 6 * width, dtype=dtype)
    before = whole.clone()
    heads = whole.view(1, 5, 6, width).transpose(1, 2).narrow(1, 0, 4)
    weights = random(4, width, seed=5)
    exact = normed(heads, weights[:, None])
    assert_rounded_once(norm_heads(heads, weights, EPS), exact)
    angles = random(5, width, seed=6).to(dtype)
    cos, sin = angles.cos(), angles.sin()
    half = width // 2
    first, second = heads.double().split(half, -1)
    wide = cos.double(), sin.double()
    turned = torch.cat(
        (
            first * wide[0][:, :half] - second * wide[1][:, :half],
            second * wide[0][:, half:] + first * wide[1][:, half:],
        ),
        -1,
    )
    torch.testing.assert_close(
        turn_heads(heads, cos, sin).double(), turned, atol=1e-6, rtol=torch.finfo(dtype).eps
    )
    assert torch.equal(whole[..., 4 * width :], before[..., 4 * width :])


def test_of_a_head_that_is_wider_than_the_angles_the_rest_stays() -> None:
    heads = random(1, 2, 3, 20)
    before = heads.clone()
    angles = random(3, 8, seed=7)
    turn_heads(heads, angles.cos(), angles.sin())
    assert torch.equal(heads[..., 8:], before[..., 8:])
    assert not torch.equal(heads[..., :8], before[..., :8])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("inner", [40, 1500])
def test_a_gate_is_silu_times_the_other_half(dtype: torch.dtype, inner: int) -> None:
    both = random(1, 3, 2 * inner, dtype=dtype) * 8
    gate, up = both.double().split(inner, -1)
    found = gate_rows(both)
    # The exponential function of CUDA is good to two units in the last place.
    assert_rounded_once(found, gate * torch.sigmoid(gate) * up, 5e-7)
