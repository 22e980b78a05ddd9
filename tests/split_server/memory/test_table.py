"""The number of sessions that fit, against the bytes that they would take."""

from __future__ import annotations

import pytest

from split_server.memory.limit import Room
from split_server.memory.plan import MemoryPlan
from split_server.memory.table import (
    cache_budget,
    described,
    longest_context,
    sessions_that_fit,
    summary,
)
from tests.split_server.memory.planning import SHAPE

_PLAN = MemoryPlan(SHAPE)


@pytest.mark.parametrize("free", [0, 2_000_000, 20_000_000, 2_000_000_000])
def test_as_many_sessions_fit_as_are_said_and_no_more(free: int) -> None:
    for context, sessions in sessions_that_fit(_PLAN, free).items():
        workspace = _PLAN.largest_workspace(context)
        assert sessions == 0 or sessions * _PLAN.cache_bytes(context) + workspace <= free
        assert (sessions + 1) * _PLAN.cache_bytes(context) + workspace > free


def test_the_contexts_end_with_the_models_own() -> None:
    assert list(sessions_that_fit(_PLAN, 0)) == [512, 2048, 4096]


def test_the_longest_context_fits_and_one_more_does_not() -> None:
    longest = longest_context(_PLAN, 5_000_000)
    assert 0 < longest < SHAPE.max_context
    for positions, fits in ((longest, True), (longest + 1, False)):
        taken = _PLAN.cache_bytes(positions) + _PLAN.largest_workspace(positions)
        assert (taken <= 5_000_000) is fits
    assert longest_context(_PLAN, 1 << 40) == SHAPE.max_context
    assert longest_context(_PLAN, 0) == 0


def test_the_budget_leaves_a_pass_over_the_longest_context() -> None:
    free = 5_000_000
    budget = cache_budget(_PLAN, free)
    assert budget + _PLAN.largest_workspace(longest_context(_PLAN, free)) == free
    assert cache_budget(_PLAN, -1) > 0


def test_people_read_what_binds_and_what_fits() -> None:
    text = "\n".join(described(_PLAN, 1 << 20, 0, Room(5_000_000, "cgroup")))
    assert "limited by: cgroup" in text
    assert f"{longest_context(_PLAN, 5_000_000):,} of 4,096 tokens" in text
    line = summary(_PLAN, 4_000_000, 0, Room(5_000_000, "cgroup"))
    assert "limited by: cgroup" in line
    assert "\n" not in line
