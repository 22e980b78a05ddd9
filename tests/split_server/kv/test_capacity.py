"""Size classes hold what they must, are few, and waste little."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from split_server.kv.capacity import capacity_for, capacity_within

POSITIONS = st.integers(0, 1 << 30)


def test_the_first_classes_are_as_documented() -> None:
    classes = sorted({capacity_for(positions) for positions in range(385)})
    assert classes == [0, 32, 64, 96, 128, 160, 224, 288, 384]


@given(POSITIONS)
def test_a_class_holds_its_positions_and_at_most_a_quarter_and_a_granule_more(
    positions: int,
) -> None:
    capacity = capacity_for(positions)
    assert positions <= capacity <= 1.25 * positions + 32
    assert capacity % 32 == 0
    assert capacity_for(capacity) == capacity


@given(POSITIONS)
def test_the_class_within_a_room_is_the_largest_that_fits(room: int) -> None:
    capacity = capacity_within(room)
    assert capacity <= room < capacity_for(capacity + 1)
