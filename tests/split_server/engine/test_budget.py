"""How many prefill rows go beside decoding, for machines whose costs are known."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from split_server.engine.budget import RowBudget

PACE = 0.006


def tokens(
    budget: RowBudget, cost: Callable[[int], float], count: int = 300, decoding: int = 1
) -> list[tuple[int, float]]:
    """Prefill rows and seconds of the passes that ``count`` tokens beside a prefill take."""
    passes = []
    for _ in range(count):
        rows = budget.rows_beside(decoding, PACE)
        seconds = cost(rows)
        budget.record(decoding, rows, seconds)
        passes.append((rows, seconds))
    return passes


def known(base: float, stretch: float = 2.0) -> RowBudget:
    """A budget that has seen one session decode alone."""
    budget = RowBudget(stretch)
    for _ in range(5):
        budget.record(1, 0, base)
    return budget


def stretched(passes: list[tuple[int, float]], base: float) -> float:
    """Time per token over that without a prefill, devices included."""
    pace = min(PACE, base)
    mean = sum(seconds for _, seconds in passes) / len(passes)
    return (mean + pace) / (base + pace)


@pytest.mark.parametrize(("base", "per_row"), [(0.03, 0.002), (0.4, 0.02), (0.002, 0.0001)])
def test_a_token_beside_a_prefill_takes_the_stretch_of_its_usual_time_on_average(
    base: float, per_row: float
) -> None:
    passes = tokens(known(base), lambda rows: base + per_row * rows)[50:]
    assert stretched(passes, base) == pytest.approx(2.0, abs=0.12)


def test_so_it_is_where_a_started_group_of_rows_costs_as_much_as_a_whole_one() -> None:
    def cost(rows: int) -> float:
        return 0.024 + 0.016 * -(-(rows + 1) // 8) if rows else 0.03

    passes = tokens(known(0.03), cost)[50:]
    assert stretched(passes, 0.03) == pytest.approx(2.0, abs=0.15)


def test_passes_fill_whole_groups_of_rows() -> None:
    passes = tokens(known(0.03), lambda rows: 0.03 + 0.001 * rows)[50:]
    assert all((rows + 1) % 8 == 0 for rows, _ in passes if rows)


def test_a_prefill_always_gets_a_few_rows() -> None:
    passes = tokens(known(0.03), lambda rows: 0.03 + 0.5 * rows)
    mixed = [rows for rows, _ in passes[10:] if rows]
    assert min(mixed) == 4
    assert len(mixed) > 250


def test_decoding_alone_is_measured_again_now_and_then() -> None:
    passes = tokens(known(0.03), lambda rows: 0.03 + 0.002 * rows, count=200)
    alone = sum(rows == 0 for rows, _ in passes)
    assert 4 <= alone <= 8


def test_rows_follow_a_decode_step_that_became_slower() -> None:
    budget = known(0.03)
    before = tokens(budget, lambda rows: 0.03 + 0.002 * rows)[-20:]
    after = tokens(budget, lambda rows: 0.06 + 0.002 * rows, count=600)[-20:]
    assert stretched(after, 0.06) < 2.3
    assert max(rows for rows, _ in after) > max(rows for rows, _ in before)


def test_rows_shrink_as_they_become_dearer() -> None:
    budget = known(0.03)
    before = tokens(budget, lambda rows: 0.03 + 0.001 * rows)[-40:]
    after = tokens(budget, lambda rows: 0.03 + 0.002 * rows)[-40:]
    assert sum(rows for rows, _ in after) < 0.7 * sum(rows for rows, _ in before)


def test_before_anything_is_known_the_guess_is_small() -> None:
    budget = RowBudget()
    assert budget.rows_beside(1, PACE) == 0
    assert budget.rows_beside(1, PACE) == 16


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
