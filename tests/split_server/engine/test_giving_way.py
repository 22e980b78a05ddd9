"""Threads that load a model while others compute."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType

import pytest

from split_server.engine.device_turns import DeviceTurns
from split_server.engine.giving_way import _Look, given_way_to, giving_way, working_seconds
from split_server.engine.model.threads import on_passing_thread
from tests.patience import until


def computed(count: int) -> int:
    """Calls."""
    return sum(abs(number) for number in range(count))


def test_python_waits_for_the_end_of_a_turn_and_its_clock_stands_still() -> None:
    turns = DeviceTurns(release=lambda: None)
    seat = turns.seat()
    found: list[float] = []

    def load() -> None:
        with giving_way(turns):
            before = working_seconds()
            computed(1000)
            found.append(working_seconds() - before)

    with ThreadPoolExecutor(1) as thread:
        with seat.turn():
            loading = thread.submit(load)
            until(lambda: turns.aside)
            assert not loading.done()
        loading.result(60)
    assert len(found) == 1


def test_where_no_model_is_served_nobody_looks() -> None:
    before = sys.getprofile()
    with giving_way(None), giving_way(DeviceTurns()):
        assert sys.getprofile() is before
        assert given_way_to() is None


def test_a_thread_that_works_for_a_loading_one_gives_way_too() -> None:
    turns = DeviceTurns(release=lambda: None)
    turns.seat()
    before = sys.getprofile()
    with giving_way(turns):
        assert on_passing_thread(given_way_to) is turns
        assert on_passing_thread(threading.get_ident) != threading.get_ident()
    assert sys.getprofile() is before
    assert on_passing_thread(given_way_to) is None


def _standing_aside(
    turns: DeviceTurns, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> list[float]:
    """How patient everybody is who stands aside, which takes so many ``seconds`` each time."""
    waited: list[float] = []

    def stand_aside(patience: float) -> float:
        waited.append(patience)
        return seconds

    monkeypatch.setattr(turns, "stand_aside", stand_aside)
    return waited


@pytest.mark.parametrize(("module", "waits"), [("logging", 0), ("somewhere", 1)])
def test_whoever_holds_a_lock_that_a_pass_needs_does_not_wait_for_it(
    module: str, waits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = DeviceTurns(release=lambda: None)
    waited = _standing_aside(turns, 0.0, monkeypatch)
    look = _Look(turns)
    hold = FunctionType((lambda work: work()).__code__, {"__name__": module})
    with turns.seat().turn():
        hold(lambda: look(sys._getframe(), "call", None))
    assert len(waited) == waits


def test_who_waited_for_long_goes_on_beside_the_pass_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = DeviceTurns(release=lambda: None)
    waited = _standing_aside(turns, 3600.0, monkeypatch)
    look = _Look(turns)
    with turns.seat().turn():
        for _ in range(100):
            look(sys._getframe(), "call", None)
    assert len(waited) == 1


def test_the_interpreter_hands_its_lock_over_sooner_while_a_model_is_loaded() -> None:
    turns = DeviceTurns(release=lambda: None)
    turns.seat()
    usual = sys.getswitchinterval()
    with giving_way(turns):
        assert sys.getswitchinterval() < usual
    assert sys.getswitchinterval() == usual
