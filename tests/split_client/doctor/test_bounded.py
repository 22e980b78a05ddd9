"""Work that never ends is left behind in time."""

from __future__ import annotations

import threading

import pytest

from split_client.doctor.bounded import TooSlow, within


def test_the_result_and_the_error_of_the_work_are_passed_on() -> None:
    assert within(5.0, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        within(5.0, lambda: 1 // 0)


def test_work_that_hangs_is_given_up() -> None:
    release = threading.Event()
    with pytest.raises(TooSlow) as caught:
        within(0.05, release.wait)
    release.set()
    assert caught.value.seconds == 0.05
