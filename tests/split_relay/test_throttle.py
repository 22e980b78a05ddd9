from __future__ import annotations

from split_relay.throttle import Throttle


def test_one_line_per_interval() -> None:
    times = iter([0.0, 0.5, 0.99, 1.0, 1.5])
    throttle = Throttle(1.0, clock=lambda: next(times))
    assert [throttle.allow() for _ in range(5)] == [True, False, False, True, False]
