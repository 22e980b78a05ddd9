"""Tiers: which positions are not exact, and what a device may ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire.errors import MalformedMessage, UnknownCache
from split_wire.tiers import (
    ALL_EXACT,
    CACHES,
    TIERS,
    Inexact,
    cache_asked,
    inexact_field,
    worse,
)


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 30))
def test_the_part_of_the_first_positions_is_that_of_each_of_them(
    exact: int, int8: int, approximate: int, first: int
) -> None:
    tiers = ["exact"] * exact + ["int8"] * int8 + ["approximate"] * approximate
    found = Inexact(int8, approximate).within(len(tiers), first)
    kept = tiers[:first]
    assert found == Inexact(kept.count("int8"), kept.count("approximate"))
    assert found.total == len(kept) - kept.count("exact")


def test_more_that_is_not_exact_than_is_held_counts_as_all_of_it() -> None:
    assert Inexact(10, 10).within(5, 3).total == 3


def test_of_two_tiers_the_later_one_is_worse() -> None:
    for at, one in enumerate(TIERS):
        assert [worse(one, other) for other in TIERS] == [one] * (at + 1) + [*TIERS[at + 1 :]]


def test_what_may_be_asked_for_is_told_to_who_asks_for_something_else() -> None:
    assert [cache_asked(asked) for asked in (None, *CACHES)] == ["exact", *CACHES]
    with pytest.raises(UnknownCache, match="'approximate' or 'off', and not 'nearly'"):
        cache_asked("nearly")


def test_a_tier_of_another_name_is_not_looked_at() -> None:
    assert inexact_field({"int8": 3, "later": "x"}) == Inexact(3)
    assert inexact_field(None) is ALL_EXACT
    with pytest.raises(MalformedMessage):
        inexact_field([3])
