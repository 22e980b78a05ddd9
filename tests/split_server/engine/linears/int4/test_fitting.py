"""Four bits fitted: never worse than the nearest, better where columns count differently."""

from __future__ import annotations

import pytest
import torch

from split_server.engine.linears.int4.fitting import Fitted, fitted, nearest

DTYPES = [torch.float32, torch.bfloat16]


def _error(found: Fitted, weights: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    return ((found.weights() - weights).double().square() * counts.double()).sum(dim=-1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_nearest_is_within_half_a_step(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    weights = torch.randn(8, 3, 32)
    found = nearest(weights, dtype)
    # Scale and zero point are rounded to the dtype: eight steps of the one, and the other.
    slack = torch.finfo(dtype).eps * (8 * found.scales + found.zeros.abs())
    assert ((found.weights() - weights).abs() <= 0.5 * found.scales + slack + 1e-6).all()
    assert found.values.unique().tolist() == list(range(16))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("power", [0.0, 2.0, 6.0])
def test_no_group_is_fitted_worse_than_rounded(dtype: torch.dtype, power: float) -> None:
    torch.manual_seed(1)
    weights = torch.randn(64, 4, 32)
    counts = torch.rand(4, 32).pow(power)
    fits, rounds = (
        _error(found, weights, counts)
        for found in (fitted(weights, counts, dtype), nearest(weights, dtype))
    )
    assert (fits <= rounds * (1 + 1e-5)).all()
    assert fits.sum() < 0.9 * rounds.sum()


def test_a_column_that_counts_is_kept_almost_exactly() -> None:
    torch.manual_seed(2)
    weights, counts = torch.randn(64, 1, 32), torch.ones(1, 32)
    counts[0, 5] = 1e4
    apart = (fitted(weights, counts, torch.float32).weights() - weights)[:, 0, 5].abs()
    before = (nearest(weights, torch.float32).weights() - weights)[:, 0, 5].abs()
    assert apart.mean() < before.mean() / 5


@pytest.mark.parametrize("value", [0.0, 1.5, -3e-9])
def test_equal_weights_stay_what_they_are(value: float) -> None:
    weights = torch.full((2, 1, 32), value)
    fits = fitted(weights, torch.ones(1, 32), torch.float32)
    for found in (fits, nearest(weights, torch.float32)):
        torch.testing.assert_close(found.weights(), weights, atol=1e-8, rtol=0)


@pytest.mark.parametrize("count", [0.0, 1e-38, 1e30])
def test_counts_of_any_size_give_finite_weights(count: float) -> None:
    torch.manual_seed(3)
    found = fitted(torch.randn(4, 1, 32), torch.full((1, 32), count), torch.bfloat16)
    assert found.weights().isfinite().all()
    assert ((found.values >= 0) & (found.values <= 15)).all()
