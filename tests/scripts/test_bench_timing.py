"""A long benchmark says how far it is, ends in time, and tells what it counted when broken off."""

from __future__ import annotations

import os
import signal

import pytest

from scripts.bench.timing import Course, broken_off


def test_a_run_is_over_after_its_seconds_and_its_parts_before() -> None:
    now, said = [100.0], list[str]()
    course = Course(60.0, lambda: now[0], said.append)
    assert not course.over(0.5)
    now[0] += 30.0
    assert course.over(0.5)
    assert not course.over()
    now[0] += 30.0
    assert course.over()


def test_without_seconds_a_run_ends_with_its_work() -> None:
    now = [0.0]
    course = Course(clock=lambda: now[0], say=lambda _: None)
    now[0] = 1e9
    assert not course.over(0.01)


def test_lines_of_progress_keep_apart() -> None:
    now, said = [0.0], list[str]()
    course = Course(clock=lambda: now[0], say=said.append)
    for second in (0.0, 1.0, 9.0, 11.0, 12.0):
        now[0] = second
        course.tell(f"line {second:g}")
    assert said == ["     0 s  line 0", "    11 s  line 11"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_broken_off_goes_on_to_its_report(number: int) -> None:
    before, said, counted = signal.getsignal(number), list[str](), 0
    with broken_off(said.append):
        for counted in range(5):
            if counted == 3:
                os.kill(os.getpid(), number)
                signal.sigtimedwait([], 5)
    assert (counted, len(said)) == (3, 1)
    assert signal.getsignal(number) is before
