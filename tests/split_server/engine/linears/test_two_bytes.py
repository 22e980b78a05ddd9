"""Two bytes a value: what they hold, and that each row is split by itself."""

from __future__ import annotations

import torch

from split_server.engine.linears.two_bytes import joined, split


def _values(rows: torch.Tensor, largest: torch.Tensor) -> torch.Tensor:
    """What the bytes mean, in float64."""
    low, high = rows.double()
    return (high * 254 + low) * largest.double() / 32258


def test_bytes_hold_16_bits_of_every_value() -> None:
    torch.manual_seed(0)
    values = torch.randn(20, 333) * torch.logspace(-20, 20, 20)[:, None]
    rows, largest = split(values.clone())
    assert rows.shape == (2, 20, 333)
    assert torch.equal(largest, values.abs().amax(dim=1, keepdim=True))
    error = (_values(rows, largest) - values).abs()
    # Half a step, and the rounding of the quotient in float32.
    assert (error <= largest / 32258 * 0.51).all()


def test_the_largest_values_of_both_signs_fit() -> None:
    rows, largest = split(torch.tensor([[1.0, -1.0, 0.0]]))
    assert rows[1].tolist() == [[127, -127, 0]]
    assert rows[0].tolist() == [[0, 0, 0]]
    assert _values(rows, largest).tolist() == [[1.0, -1.0, 0.0]]


def test_bytes_are_whole_numbers_within_a_byte() -> None:
    torch.manual_seed(3)
    # A thousandth of a step apart, so that every tie is met.
    rows, _ = split(torch.linspace(-1.0, 1.0, 254_001).view(1, -1))
    assert torch.equal(rows, rows.round())
    assert rows.abs().max() == 127


def test_rows_of_zeros_are_zeros() -> None:
    rows, largest = split(torch.zeros(2, 5))
    assert (rows == 0).all()
    assert (largest > 0).all()


def test_a_row_is_split_as_it_is_alone() -> None:
    torch.manual_seed(1)
    values = torch.randn(70, 37) * torch.logspace(-3, 3, 70)[:, None]
    rows, largest = split(values.clone())
    for i in (0, 1, 33, 69):
        alone, size = split(values[i : i + 1].clone())
        assert torch.equal(alone[:, 0], rows[:, i])
        assert torch.equal(size[0], largest[i])


def test_products_of_bytes_join_to_that_of_the_values() -> None:
    torch.manual_seed(2)
    values, matrix = torch.randn(3, 40), torch.randint(-127, 128, (8, 40)).float()
    rows, largest = split(values.clone())
    found = joined(rows @ matrix.T / 127, largest)
    assert torch.allclose(found, values @ matrix.T, atol=40 * 127 * 4 / 32258)
