"""The number of prefill rows beside decoding, for machines whose costs are known."""

from __future__ import annotations

from statistics import fmean

import pytest

from split_server.engine.budget import RowBudget

PACE = 0.006


def mixed_passes(
    budget: RowBudget, base: float, per_row: float, passes: int, decoding: int = 1
) -> list[int]:
    """Rows of passes on a machine where one takes base + per_row * rows."""
    taken = []
    for _ in range(passes):
        rows = budget.rows_beside(decoding, PACE)
        budget.record(decoding, rows, base + per_row * rows)
        taken.append(rows)
    return taken


def settled(base: float, per_row: float, stretch: float = 2.0, passes: int = 60) -> RowBudget:
    """A budget after mixed passes on such a machine."""
    budget = RowBudget(stretch)
    for _ in range(5):
        budget.record(1, 0, base)
    mixed_passes(budget, base, per_row, passes)
    return budget


@pytest.mark.parametrize(("base", "per_row"), [(0.03, 0.002), (0.4, 0.025), (0.002, 0.0001)])
def test_a_token_beside_a_prefill_takes_the_stretch_of_its_usual_time_on_average(
    base: float, per_row: float
) -> None:
    rows = mixed_passes(settled(base, per_row), base, per_row, 200)
    pace = min(PACE, base)
    stretched = base + per_row * fmean(rows) + pace
    assert stretched == pytest.approx(2.0 * (base + pace), rel=0.02)


def test_no_pass_takes_more_than_twice_the_allowance() -> None:
    rows = mixed_passes(settled(0.03, 0.002), 0.03, 0.002, 200)
    assert 0.002 * max(rows) <= 2 * (0.03 + PACE) + 0.002 * 4


def test_rows_and_steps_fill_groups_of_eight() -> None:
    rows = mixed_passes(settled(0.03, 0.001), 0.03, 0.001, 30)
    assert all((1 + count) % 8 == 0 for count in rows if count)


def test_a_prefill_always_gets_a_few_rows() -> None:
    assert settled(0.03, 0.5).rows_beside(1, PACE) == 4


def test_rows_shrink_as_they_become_dearer() -> None:
    budget = settled(0.03, 0.002)
    before = fmean(mixed_passes(budget, 0.03, 0.002, 100))
    mixed_passes(budget, 0.03, 0.004, 100)
    assert fmean(mixed_passes(budget, 0.03, 0.004, 100)) == pytest.approx(before / 2, rel=0.1)


def test_decoding_that_becomes_slower_does_not_starve_prefills() -> None:
    budget = RowBudget(1.9)
    for _ in range(8):
        budget.record(8, 0, 0.010)
    mixed_passes(budget, 0.020, 0.0001, 400, decoding=8)
    rows = fmean(mixed_passes(budget, 0.020, 0.0001, 100, decoding=8))
    assert rows == pytest.approx(0.9 * (0.020 + PACE) / 0.0001, rel=0.15)


def test_a_crowd_that_never_decoded_alone_does_not_starve_prefills() -> None:
    budget = RowBudget(1.9)
    for _ in range(8):
        budget.record(1, 0, 0.003)
    mixed_passes(budget, 0.030, 0.0002, 400, decoding=40)
    assert fmean(mixed_passes(budget, 0.030, 0.0002, 100, decoding=40)) > 100


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


def test_where_a_pass_takes_as_long_for_few_rows_a_prefill_gets_whole_ones_however_slow() -> None:
    budget = RowBudget(max_rows=256, flat=True)
    for _ in range(60):
        budget.record(0, 32, 32.0)
    assert budget.rows_alone() == 256
