"""Races that are not run again where a load gives way."""

from __future__ import annotations

import split_server.engine.outcomes as outcomes
from split_server.engine.device_turns import DeviceTurns
from split_server.engine.giving_way import giving_way
from split_server.engine.outcomes import outcome


def test_a_load_beside_passes_takes_what_an_earlier_one_found() -> None:
    turns = DeviceTurns(release=lambda: None)
    turns.seat()
    runs: list[int] = []

    def race() -> int:
        runs.append(0)
        return len(runs)

    with giving_way(turns):
        assert outcome(("a test", 1), race) == 1
        assert outcome(("a test", 1), race) == 1
        assert outcome(("a test", 2), race) == 2
    # Where nobody computes it is run anew.
    assert outcome(("a test", 1), race) == 3
    with giving_way(turns):
        assert outcome(("a test", 1), race) == 3


def test_no_more_than_some_races_are_kept_in_mind() -> None:
    for number in range(1000):
        outcome(("a test", number), lambda: None)
    assert len(outcomes._found) <= 64
