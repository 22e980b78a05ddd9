"""Figures of a row: their form, and numbers that are none."""

from __future__ import annotations

import math

import pytest

from scripts.real.figures import Figure, Figures, largest, of, require


def test_the_table_says_what_was_checked_before_it() -> None:
    found = Figures("all is well", (Figure("a", "1"), Figure("b", "2", "3")), "after").markdown()
    assert found.splitlines() == [
        "Checked: all is well.",
        "",
        "| figure | SmolLM2-135M-Instruct | said before |",
        "| --- | --- | --- |",
        "| a | 1 |  |",
        "| b | 2 | 3 |",
        "",
        "after",
    ]


def test_counts_come_with_their_share() -> None:
    assert of(1234, 4936) == "1,234 of 4,936 (25.0%)"


@pytest.mark.parametrize("values", [[0.0, math.nan], [math.nan, 0.0]])
def test_a_difference_that_is_no_number_is_not_small(values: list[float]) -> None:
    assert math.isnan(largest(values))
    assert largest([1.0, 3.0, 2.0]) == 3.0


def test_an_oracle_that_disagrees_ends_the_program() -> None:
    require(True, "never said")
    with pytest.raises(SystemExit, match="the oracle disagrees: 7 differ"):
        require(math.nan < 1, "7 differ")
