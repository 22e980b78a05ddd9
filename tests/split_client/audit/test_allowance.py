"""The time of an audit: shares of it, and the end of each."""

from __future__ import annotations

import pytest

from split_client.audit.allowance import Allowance, TimeUp


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_work_is_broken_off_at_the_end_of_its_part_and_what_follows_has_the_rest() -> None:
    clock = Clock()
    allowance, done = Allowance(100.0, clock), []
    with allowance.part(0.25):
        for step in range(10):
            allowance.check()
            done.append(step)
            clock.now += 10.0
    assert done == [0, 1, 2]
    assert allowance.left == 70.0
    with allowance.part(0.5):
        assert allowance.left == 35.0
        allowance.check()
    assert allowance.left == 70.0


def test_a_part_of_a_part_ends_with_it() -> None:
    clock = Clock()
    allowance, reached = Allowance(100.0, clock), []
    with allowance.part(0.5):
        with allowance.part(1.0):
            clock.now += 60.0
            allowance.check()
        reached.append("after the inner part")
        allowance.check()
        reached.append("never")
    assert reached == ["after the inner part"]
    allowance.check()
    clock.now += 40.0
    with pytest.raises(TimeUp):
        allowance.check()
    assert allowance.left == 0.0


def test_without_a_limit_no_part_ends() -> None:
    clock = Clock()
    allowance = Allowance(None, clock)
    with allowance.part(0.01):
        clock.now += 1e9
        allowance.check()
        clock.now += 1.0
    assert clock.now == 1000.0 + 1e9 + 1.0


def test_what_fails_for_another_reason_is_not_kept_quiet() -> None:
    allowance = Allowance(100.0, Clock())
    with pytest.raises(ZeroDivisionError), allowance.part(0.5):
        _ = 1 / 0
    assert allowance.left == 100.0
