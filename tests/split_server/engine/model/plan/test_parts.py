"""The stream, its norms and the turning of heads, each against float64."""

from __future__ import annotations

import pytest
import torch

from split_server.engine.model.plan.rope import Turn
from split_server.engine.model.plan.stream import HeadNorm, Norm, Stream

EPS = 1e-6


def normed(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    wide = rows.double()
    return wide * (wide.square().mean(-1, keepdim=True) + EPS).rsqrt() * weight.double()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_norm_is_exact_but_for_one_rounding(dtype: torch.dtype, scale: float) -> None:
    torch.manual_seed(0)
    rows, weight = (torch.randn(1, 5, 96) * scale).to(dtype), torch.randn(96)
    # As in trained models: one value far above the others.
    rows[..., 7] *= 500
    found, exact = Norm(weight, EPS)(rows), normed(rows, weight)
    assert found.dtype is dtype
    bound = torch.finfo(dtype).eps * exact.abs() + 1e-6
    assert ((found.double() - exact).abs() <= bound).all()


def test_a_row_is_normed_as_it_is_alone() -> None:
    torch.manual_seed(1)
    rows, norm = torch.randn(1, 9, 100).bfloat16(), Norm(torch.randn(100), EPS)
    together = norm(rows)
    assert all(torch.equal(norm(rows[:, i : i + 1])[:, 0], together[:, i]) for i in range(9))


def test_a_stream_is_the_sum_of_what_was_added() -> None:
    torch.manual_seed(2)
    rows, first, second = torch.randn(3, 1, 4, 32)
    stream, norm = Stream(rows), Norm(torch.randn(32), EPS)
    stream.add(first, 1.0)
    stream.add(second, 0.5)
    torch.testing.assert_close(stream.rows, rows + first + 0.5 * second)
    assert torch.equal(stream.normed(norm), norm(stream.rows.contiguous()))


def test_each_head_has_its_own_weights() -> None:
    torch.manual_seed(3)
    heads, weights = torch.randn(1, 3, 5, 16), torch.randn(3, 16)
    found = HeadNorm(weights, EPS)(heads)
    exact = normed(heads, weights[:, None])
    torch.testing.assert_close(found.double(), exact, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("width", [16, 10])
def test_heads_are_turned_by_the_angle_of_their_position(width: int) -> None:
    torch.manual_seed(4)
    heads, angles = torch.randn(1, 3, 5, 16), torch.randn(1, 5, width // 2)
    whole = torch.cat((angles, angles), dim=-1)
    found = Turn(whole.cos(), whole.sin())(heads)
    first, second = heads[..., : width // 2], heads[..., width // 2 : width]
    turned = torch.complex(first, second) * torch.polar(torch.ones(1), angles)[:, None]
    wanted = torch.cat((turned.real, turned.imag, heads[..., width:]), dim=-1)
    torch.testing.assert_close(found, wanted)
