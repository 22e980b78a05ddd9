from __future__ import annotations

import pytest

from split_client.generation.spared import Pace, row_bytes
from split_wire.tensor import WireDtype


@pytest.mark.parametrize(
    ("dtype", "size"), [("f32", 400), ("bf16", 200), ("f16", 200), ("i8", 104)]
)
def test_a_row_has_the_bytes_of_its_dtype(dtype: WireDtype, size: int) -> None:
    assert row_bytes(100, dtype) == size


def test_nothing_is_said_of_time_before_a_prompt_was_sent() -> None:
    pace = Pace()
    assert pace.saved(100, 0.1) is None
    # Neither a few rows tell what a row takes, nor ones that were known.
    pace.sent(31, 0, 1.0)
    pace.sent(100, 64, 1.0)
    assert pace.saved(100, 0.1) is None


def test_what_is_saved_is_what_the_rows_would_have_taken_less_what_restoring_took() -> None:
    pace = Pace()
    pace.sent(100, 0, 1.0)
    pace.sent(100, 0, 3.0)
    assert pace.saved(50, 0.25) == pytest.approx(0.75)
    assert pace.saved(1, 5.0) == 0.0
