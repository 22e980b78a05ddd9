"""What is asked of a host while a reply goes on: in its order, bounded, given up at the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from split_client.crypto.ahead import MOST_WAITING, Ahead
from split_client.errors import Cancelled


class _Link:
    """A connection; ``pause``: what waits for it."""

    def __init__(self) -> None:
        self.pause: Callable[[float], None] = lambda _: None
        self.closed = threading.Event()

    def made(self, pause: Callable[[float], None]) -> Any:
        self.pause = pause
        return self

    def close(self) -> None:
        self.closed.set()


def test_work_is_done_in_its_order_on_another_thread_and_errors_are_told() -> None:
    link, done = _Link(), []
    ahead = Ahead(link.made)
    made = [ahead.begin(lambda _, n=n: done.append(n) or threading.current_thread()) for n in "ab"]
    assert made[1].result(10) is made[0].result(10) is not threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        ahead.begin(lambda _: 1 // 0).result(10)
    assert done == ["a", "b"]
    ahead.close()
    assert link.closed.wait(10)
    assert ahead.begin(lambda _: 1).cancelled()


def test_nothing_is_begun_for_a_connection_that_is_closed_unused() -> None:
    link = _Link()
    ahead = Ahead(link.made)
    ahead.close()
    ahead.close()
    assert link.closed.is_set()


def test_a_host_that_answers_nothing_does_not_collect_work_or_hold_up_a_close() -> None:
    link, begun = _Link(), threading.Event()
    ahead = Ahead(link.made)

    def waits(_: object) -> None:
        begun.set()
        link.pause(600.0)

    first = ahead.begin(waits)
    assert begun.wait(10)
    rest = [ahead.begin(lambda _: None) for _ in range(MOST_WAITING + 5)]
    assert sum(future.cancelled() for future in rest) == 5
    ahead.close()
    with pytest.raises(Cancelled):
        first.result(10)
    assert link.closed.wait(10)
