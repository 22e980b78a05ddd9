import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from split_wire.floats import bf16_to_f32, f32_to_bf16, round_to

ALL_16_BIT_PATTERNS = np.arange(65_536, dtype=np.uint16)


def random_f32_bits(count: int, seed: int) -> np.ndarray:
    bits = np.random.default_rng(seed).integers(0, 2**32, count, dtype=np.uint32)
    return bits.view(np.float32)


def torch_bf16_bits(values: np.ndarray) -> np.ndarray:
    return (
        torch.from_numpy(values.copy()).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    )


def test_widening_equals_torch_bit_for_bit_on_every_pattern() -> None:
    expected = torch.from_numpy(ALL_16_BIT_PATTERNS.view(np.int16)).view(torch.bfloat16).float()
    widened = bf16_to_f32(ALL_16_BIT_PATTERNS)
    assert np.array_equal(widened.view(np.uint32), expected.numpy().view(np.uint32))


def test_every_pattern_but_nan_survives_a_round_trip() -> None:
    widened = bf16_to_f32(ALL_16_BIT_PATTERNS)
    nan = np.isnan(widened)
    back = f32_to_bf16(widened)
    assert np.array_equal(back[~nan], ALL_16_BIT_PATTERNS[~nan])
    assert set(back[nan].tolist()) == {0x7FC0}


def test_rounding_equals_torch_on_random_bit_patterns() -> None:
    values = random_f32_bits(1_000_000, seed=1)
    number = ~np.isnan(values)
    assert np.array_equal(f32_to_bf16(values)[number], torch_bf16_bits(values)[number])
    assert np.isnan(bf16_to_f32(f32_to_bf16(values[~number]))).all()


def test_exact_halves_round_to_the_even_neighbour_on_every_pattern() -> None:
    halves = ((ALL_16_BIT_PATTERNS.astype(np.uint32) << 16) | 0x8000).view(np.float32)
    number = ~np.isnan(halves)
    assert np.array_equal(f32_to_bf16(halves)[number], torch_bf16_bits(halves)[number])


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3, 5)])
def test_shapes_are_kept(shape: tuple[int, ...]) -> None:
    values = np.full(shape, 1.5, dtype=np.float32)
    assert f32_to_bf16(values).shape == shape
    for name in ("f32", "bf16", "f16"):
        assert round_to(name, values).shape == shape


def test_rounding_to_f16_equals_torch_and_overflows_to_infinity() -> None:
    values = np.concatenate(
        [
            random_f32_bits(100_000, seed=2),
            np.random.default_rng(3).standard_normal(100_000, dtype=np.float32),
            np.array([65_504, 65_519.9, 65_520, -1e30], dtype=np.float32),
        ]
    )
    values = values[~np.isnan(values)]
    expected = torch.from_numpy(values).half().float().numpy()
    assert np.array_equal(round_to("f16", values), expected)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_rounding_twice_changes_nothing(value: float) -> None:
    once = round_to("bf16", np.array([value], dtype=np.float32))
    assert np.array_equal(round_to("bf16", once), once)


def test_rounding_to_f32_keeps_every_bit() -> None:
    values = random_f32_bits(1_000, seed=4)
    assert np.array_equal(round_to("f32", values).view(np.uint32), values.view(np.uint32))


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="unknown float format 'f8'"):
        round_to("f8", np.zeros(1, dtype=np.float32))  # type: ignore[arg-type]
