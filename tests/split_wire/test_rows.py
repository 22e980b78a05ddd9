"""Byte copies of short rows equal numpy's conversions bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from split_wire.errors import NonFinite
from split_wire.floats import bf16_to_f32, f32_to_bf16
from split_wire.rows import LIMIT, narrow_bf16, surely_finite, widen_bf16
from split_wire.tensor import Tensor

EVERY_PATTERN = np.arange(65536, dtype="<u2")


def test_widening_equals_the_float_format_for_every_pattern() -> None:
    wide = widen_bf16(memoryview(EVERY_PATTERN.tobytes()))
    wanted = bf16_to_f32(EVERY_PATTERN)
    np.testing.assert_array_equal(wide.view(np.uint32), wanted.view(np.uint32))


def test_narrowing_gives_back_every_pattern() -> None:
    assert narrow_bf16(bf16_to_f32(EVERY_PATTERN)) == EVERY_PATTERN.tobytes()


@pytest.mark.parametrize("bit", [0, 7, 8, 15])
def test_a_value_that_needs_rounding_is_left_to_the_float_format(bit: int) -> None:
    values = np.array([1.0, 2.0], np.float32)
    values.view(np.uint32)[1] |= 1 << bit
    assert narrow_bf16(values) is None
    rows = values.reshape(1, 2)
    assert bytes(Tensor.from_f32(rows, "bf16").data) == f32_to_bf16(rows).tobytes()


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_what_is_surely_finite_is_finite_and_every_other_value_raises_an_alarm(dtype: str) -> None:
    wide = bf16_to_f32(EVERY_PATTERN)
    for value, bits in zip(wide, EVERY_PATTERN, strict=True):
        data = value.tobytes() if dtype == "f32" else bits.tobytes()
        sure = surely_finite(data, dtype)
        assert sure == bool(abs(value) < 2.0**127)


def test_other_dtypes_are_never_sure() -> None:
    assert not surely_finite(bytes(2), "f16")
    assert not surely_finite(bytes(1), "i8")


@pytest.mark.parametrize("width", [896, LIMIT])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_a_false_alarm_does_not_refuse_a_large_finite_value(dtype: str, width: int) -> None:
    values = np.full((1, width), 2.0**127, np.float32)
    tensor = Tensor.from_f32(values, dtype)
    np.testing.assert_array_equal(tensor.to_f32(), values)


@pytest.mark.parametrize("width", [896, LIMIT])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_a_value_that_is_not_finite_is_refused(dtype: str, bad: float, width: int) -> None:
    values = np.zeros((1, width), np.float32)
    values[0, -1] = bad
    with pytest.raises(NonFinite):
        Tensor.from_f32(values, dtype)
