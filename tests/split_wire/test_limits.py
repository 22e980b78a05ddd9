from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from split_wire.attention import AttentionRequest
from split_wire.codec import encode_message
from split_wire.limits import frame_limit
from split_wire.messages import Step
from split_wire.tensor import Tensor, WireDtype, item_size

LARGEST = AttentionRequest("mean", 4096, "f16")


@given(st.sampled_from(["f32", "f16", "bf16", "i8"]), st.integers(8, 1024), st.integers(1, 64))
def test_a_step_of_the_largest_size_fits_in_any_dtype(
    dtype: WireDtype, hidden_size: int, rows: int
) -> None:
    scales = bytes(4 * rows) if dtype == "i8" else b""
    tensor = Tensor(
        dtype, (rows, hidden_size), bytes(rows * hidden_size * item_size(dtype)), scales
    )
    step = Step("s" * 200, 2**53 - 1, 2**53 - 1, bytes(16), tensor, "all", "a" * 200, LARGEST)
    assert len(encode_message(step)) <= frame_limit(hidden_size, rows)


def test_the_limit_grows_with_the_rows_and_little_else() -> None:
    rows = 512 * 896 * 4
    assert rows < frame_limit(896, 512) < rows + 70_000
