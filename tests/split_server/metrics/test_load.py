"""Load: what counts, for how long, and in which proportion."""

from __future__ import annotations

import pytest

from split_server.metrics.load import WINDOW_SECONDS, Load, RecentWaits


class _Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


def test_nobody_waits_and_there_is_no_load(clock: _Clock) -> None:
    assert RecentWaits(clock).share() == 0.0
    assert Load(RecentWaits(clock), [lambda: 0.0], clock).value() == 0.0


@pytest.mark.parametrize(
    ("waits", "share"),
    [
        ([0.001] * 10, 0.0),
        ([0.3] * 10, 0.6),
        ([0.5], 1.0),
        ([30.0], 1.0),
        # One of ten may wait longer.
        ([0.1] * 9 + [30.0], 0.2),
        ([0.1] * 8 + [30.0] * 2, 1.0),
    ],
)
def test_waiting_is_what_nine_of_ten_waited_over_half_a_second(
    waits: list[float], share: float, clock: _Clock
) -> None:
    recent = RecentWaits(clock)
    for seconds in waits:
        recent.observe(seconds)
    assert recent.share() == pytest.approx(share)


def test_what_was_15_seconds_ago_counts_no_longer(clock: _Clock) -> None:
    recent = RecentWaits(clock)
    recent.observe(2.0)
    clock.now += WINDOW_SECONDS - 1
    assert recent.share() == 1.0
    clock.now += 1
    assert recent.share() == 0.0
    # The place of that second is another's now.
    recent.observe(0.25)
    assert recent.share() == 0.5


def test_the_largest_share_counts_and_stays_for_15_seconds(clock: _Clock) -> None:
    shares = [0.2, 0.1]
    load = Load(RecentWaits(clock), [lambda: shares[0], lambda: shares[1]], clock)
    assert load.value() == 0.2
    shares[1] = 0.7
    load.sample()
    shares[1] = 0.0
    assert load.value() == 0.7
    clock.now += WINDOW_SECONDS - 1
    assert load.value() == 0.7
    clock.now += 1
    assert load.value() == 0.2
    assert len(load._peaks) <= WINDOW_SECONDS


def test_it_is_never_more_than_one(clock: _Clock) -> None:
    assert Load(RecentWaits(clock), [lambda: 1.3], clock).value() == 1.0


def test_waiting_counts_beside_the_shares(clock: _Clock) -> None:
    recent = RecentWaits(clock)
    recent.observe(0.4)
    assert Load(recent, [lambda: 0.3], clock).value() == 0.8
