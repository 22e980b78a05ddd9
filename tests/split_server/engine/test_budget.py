"""How many prefill rows go beside decoding, for machines whose costs are known."""

from __future__ import annotations

import pytest

from split_server.engine.budget import RowBudget

PACE = 0.006


def settled(base: float, per_row: float, stretch: float = 2.0, passes: int = 60) -> RowBudget:
    """A budget after mixed passes on a machine where a pass takes base + per_row * rows."""
    budget = RowBudget(stretch)
    for _ in range(5):
        budget.record(1, 0, base)
    for _ in range(passes):
        rows = budget.rows_beside(1, PACE)
        budget.record(1, rows, base + per_row * rows)
    return budget


@pytest.mark.parametrize(("base", "per_row"), [(0.03, 0.002), (0.4, 0.025), (0.002, 0.0001)])
def test_a_token_beside_a_prefill_takes_the_stretch_of_its_usual_time(
    base: float, per_row: float
) -> None:
    rows = settled(base, per_row).rows_beside(1, PACE)
    pace = min(PACE, base)
    stretched = base + per_row * rows + pace
    assert stretched <= 2.0 * (base + pace) + 1e-9
    assert stretched + per_row >= 1.95 * (base + pace)


def test_a_prefill_always_gets_a_few_rows() -> None:
    assert settled(0.03, 0.5).rows_beside(1, PACE) == 4


def test_rows_shrink_as_they_become_dearer() -> None:
    budget = settled(0.03, 0.002)
    before = budget.rows_beside(1, PACE)
    for _ in range(40):
        rows = budget.rows_beside(1, PACE)
        budget.record(1, rows, 0.03 + 0.004 * rows)
    assert budget.rows_beside(1, PACE) == pytest.approx(before / 2, abs=1)


def test_before_anything_is_known_the_guess_is_small() -> None:
    assert RowBudget().rows_beside(1, PACE) == 16


def test_alone_a_prefill_gets_whole_passes() -> None:
    budget = RowBudget(max_rows=256)
    assert budget.rows_alone() == 256
    budget.record(0, 256, 0.4)
    assert budget.rows_alone() == 256


def test_passes_of_a_slow_model_are_kept_near_a_second() -> None:
    budget = RowBudget(max_rows=256)
    for _ in range(20):
        budget.record(0, 256, 256 * 0.01)
    assert budget.rows_alone() == 100
    for _ in range(60):
        budget.record(0, 32, 32.0)
    assert budget.rows_alone() == 32


def test_the_usual_time_is_that_of_as_many_sessions() -> None:
    budget = RowBudget()
    budget.record(1, 0, 0.03)
    budget.record(16, 0, 0.09)
    assert budget.decode_seconds(1) == 0.03
    assert budget.decode_seconds(15) == 0.09
    assert budget.decode_seconds(60) == 0.09
