from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from split_wire.errors import MalformedMessage, NonFinite, WrongDtype, WrongShape
from split_wire.tensor import MAX_SCALE, Tensor, WireDtype, align, item_size, wire_dtype
from tests.split_wire.frames import code_of
from tests.split_wire.strategies import dtypes, finite_rows

LARGEST = float(np.finfo(np.float32).max)


@pytest.mark.parametrize(("offset", "aligned"), [(0, 0), (1, 8), (7, 8), (8, 8), (9, 16)])
def test_align_rounds_up_to_eight(offset: int, aligned: int) -> None:
    assert align(offset) == aligned


@given(finite_rows)
def test_f32_travels_unchanged(rows: NDArray[np.float32]) -> None:
    assert Tensor.from_f32(rows, "f32").to_f32().tobytes() == rows.tobytes()


@given(finite_rows, st.sampled_from(["f16", "bf16"]))
def test_half_formats_round_to_the_nearest_value_that_the_format_has(
    rows: NDArray[np.float32], dtype: WireDtype
) -> None:
    sent = Tensor.from_f32(rows, dtype)
    stored = sent.array().view(np.uint16).astype(np.int64)
    back = sent.to_f32().astype(np.float64)
    exact = rows.astype(np.float64)
    for step in (-1, 1):  # no neighbour is nearer, and at a tie the even pattern was chosen
        neighbour = Tensor(dtype, sent.shape, (stored + step).astype("<u2").tobytes())
        values = neighbour.to_f32().astype(np.float64)
        # The pattern beside a zero is the other sign's NaN; beside the largest, infinity.
        real = np.isfinite(values) & (np.signbit(values) == np.signbit(back))
        ours, theirs = np.abs(back - exact)[real], np.abs(values - exact)[real]
        assert (ours <= theirs).all()
        assert (stored[real][ours == theirs] % 2 == 0).all()


@given(finite_rows)
def test_i8_is_within_half_a_scale_and_its_peak_is_127(rows: NDArray[np.float32]) -> None:
    sent = Tensor.from_f32(rows, "i8")
    sent.require_finite()
    scales = sent.row_scales()
    for row, scale, back, stored in zip(rows, scales, sent.to_f32(), sent.array(), strict=True):
        peak = float(np.abs(row).max())
        if peak > 1e-30:
            assert scale == np.float32(Fraction(np.float32(peak).item()) / 127)
            assert np.abs(stored).max() == 127
            slack = 0.5001 * float(scale)
            assert np.abs(back.astype(float) - row).max() <= slack
        assert scale > 0


@given(finite_rows, dtypes)
def test_what_is_sent_is_finite_and_of_the_right_size(
    rows: NDArray[np.float32], dtype: WireDtype
) -> None:
    sent = Tensor.from_f32(rows, dtype)
    sent.require_finite()
    assert sent.shape == rows.shape == (sent.rows, sent.width)
    assert len(sent.data) == rows.size * item_size(dtype)
    assert sent.to_f32().dtype == np.float32
    assert sent.to_f32().shape == rows.shape


@given(finite_rows, dtypes)
def test_encoding_what_was_decoded_changes_nothing(
    rows: NDArray[np.float32], dtype: WireDtype
) -> None:
    once = Tensor.from_f32(rows, dtype).to_f32()
    twice = Tensor.from_f32(once, dtype).to_f32()
    np.testing.assert_allclose(twice, once, rtol=0 if dtype != "i8" else 1e-6, atol=0)


def test_rows_need_not_be_contiguous() -> None:
    wide = np.arange(24, dtype=np.float32).reshape(4, 6)
    for dtype in ("f32", "f16", "bf16", "i8"):
        sent = Tensor.from_f32(wide[::2, ::3], dtype)
        same = Tensor.from_f32(wide[::2, ::3].copy(), dtype)
        assert sent == same


def test_rows_of_zeros_and_denormals_have_a_scale_above_zero() -> None:
    rows = np.array([[0.0, -0.0], [1e-45, -1e-45]], np.float32)
    sent = Tensor.from_f32(rows, "i8")
    assert sent.row_scales().tolist() == [1.0, 1.0]
    assert not sent.array().any()


def test_the_largest_float_survives_i8_without_overflow() -> None:
    sent = Tensor.from_f32(np.array([[LARGEST, -LARGEST]], np.float32), "i8")
    sent.require_finite()
    assert sent.row_scales()[0] == MAX_SCALE
    np.testing.assert_allclose(sent.to_f32(), [[LARGEST, -LARGEST]], rtol=0.01)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i8"])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_nan_and_infinity_are_not_sent(dtype: WireDtype, bad: float) -> None:
    with pytest.raises(NonFinite):
        Tensor.from_f32(np.array([[0, bad]], np.float32), dtype)


@pytest.mark.parametrize(("dtype", "largest"), [("f16", 65519.0), ("bf16", 3.396e38)])
def test_a_value_beyond_the_range_of_the_dtype_is_not_sent(
    dtype: WireDtype, largest: float
) -> None:
    Tensor.from_f32(np.array([[-largest]], np.float32), dtype)
    with pytest.raises(NonFinite):
        Tensor.from_f32(np.array([[-largest * 1.001]], np.float32), dtype)


def _i8(scale: float, value: int = 1) -> Tensor:
    return Tensor("i8", (1, 1), np.int8(value).tobytes(), np.float32(scale).tobytes())


@pytest.mark.parametrize("scale", [math.nan, math.inf, -math.inf, LARGEST, float(MAX_SCALE) * 1.01])
def test_a_scale_that_could_make_an_infinity_is_refused(scale: float) -> None:
    with pytest.raises(NonFinite):
        _i8(scale).require_finite()


@pytest.mark.parametrize("scale", [0.0, -0.0, -1.0])
def test_a_scale_that_is_not_above_zero_is_refused(scale: float) -> None:
    with pytest.raises(MalformedMessage, match="above 0"):
        _i8(scale).require_finite()


def test_the_largest_scale_times_minus_128_is_finite() -> None:
    tensor = _i8(float(MAX_SCALE), -128)
    tensor.require_finite()
    assert tensor.to_f32()[0, 0] == -LARGEST


@given(st.sampled_from(["f16", "bf16"]), st.integers(0, 0xFFFF))
def test_the_finite_check_agrees_with_the_widened_value(dtype: WireDtype, bits: int) -> None:
    tensor = Tensor(dtype, (1, 1), bits.to_bytes(2, "little"))
    if np.isfinite(tensor.to_f32()).all():
        tensor.require_finite()
    else:
        with pytest.raises(NonFinite):
            tensor.require_finite()


@given(st.binary(min_size=4, max_size=4), st.integers(-128, 127))
def test_an_i8_tensor_that_passes_the_check_decodes_to_finite_values(
    scale: bytes, value: int
) -> None:
    tensor = Tensor("i8", (1, 1), np.int8(value).tobytes(), scale)
    code = code_of(tensor.require_finite)
    assert code in {None, "non_finite", "malformed_message"}
    if code is None:
        assert np.isfinite(tensor.to_f32()).all()


@pytest.mark.parametrize(
    ("dtype", "shape", "data", "scales"),
    [
        ("f32", (1, 2), 7, 0),
        ("f32", (1, 2), 8, 4),
        ("f16", (2, 2), 4, 0),
        ("i8", (2, 2), 4, 4),
        ("i8", (2, 2), 4, 0),
        ("bf16", (-1, -2), 2, 0),
    ],
)
def test_bytes_that_do_not_fit_the_shape_are_refused(
    dtype: WireDtype, shape: tuple[int, int], data: int, scales: int
) -> None:
    with pytest.raises(WrongShape):
        Tensor(dtype, shape, bytes(data), bytes(scales))


@pytest.mark.parametrize("shape", [(4,), (1, 2, 2), ()])
def test_only_matrices_are_encoded(shape: tuple[int, ...]) -> None:
    with pytest.raises(WrongShape):
        Tensor.from_f32(np.zeros(shape, np.float32), "f32")


def test_a_dtype_is_known_by_its_exact_name() -> None:
    assert wire_dtype("bf16") == "bf16"
    for name in ("BF16", "float32", 16, None, b"f32", ["f32"]):
        with pytest.raises(WrongDtype):
            wire_dtype(name)
