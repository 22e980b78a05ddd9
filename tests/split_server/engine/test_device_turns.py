"""Turns of several models on one device, by an injected clock."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from split_server.engine.device_turns import _ASIDE, DeviceTurns, Seat
from tests.patience import until


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Waiting:
    """A turn that is wanted on a thread of its own, held until :meth:`end`."""

    def __init__(self, seat: Seat, expected: float = 0.0) -> None:
        self.begun, self._end = threading.Event(), threading.Event()
        self._seat, self._expected = seat, expected
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        until(lambda: seat.number is not None or self.begun.is_set())

    def _work(self) -> None:
        with self._seat.turn(lambda: self._expected):
            self.begun.set()
            self._end.wait(30.0)

    def end(self) -> None:
        assert self.begun.wait(30.0)
        self._end.set()
        self._thread.join(30.0)
        assert not self._thread.is_alive()


def turns_of(clock: Clock, released: list[str] | None = None) -> DeviceTurns:
    told = [] if released is None else released
    return DeviceTurns(clock, lambda: told.append(threading.current_thread().name))


def use(seat: Seat, clock: Clock, seconds: float) -> None:
    with seat.turn():
        clock.now += seconds


def test_of_those_who_wait_the_one_that_has_used_least_goes_first() -> None:
    clock = Clock()
    turns = turns_of(clock)
    much, little, holder = turns.seat(), turns.seat(), turns.seat()
    held = Waiting(holder)
    assert held.begun.wait(30.0)
    # Both wait since the beginning; what they have used decides and not who came first.
    much.used, little.used = 3.0, 1.0
    first = Waiting(much)
    second = Waiting(little)
    held.end()
    assert second.begun.wait(30.0)
    assert not first.begun.is_set()
    second.end()
    first.end()


def test_of_equally_served_ones_whoever_came_first_goes_first() -> None:
    turns = turns_of(Clock())
    seats = [turns.seat() for _ in range(3)]
    held, first, second = (Waiting(seat) for seat in seats)
    held.end()
    assert first.begun.wait(30.0)
    assert not second.begun.is_set()
    first.end()
    second.end()


def test_idleness_earns_no_credit() -> None:
    clock = Clock()
    turns = turns_of(clock)
    busy, idle = turns.seat(), turns.seat()
    for _ in range(5):
        use(busy, clock, 1.0)
    use(idle, clock, 0.5)
    # It begins where the busy one began its latest pass, not at nothing.
    assert idle.used == pytest.approx(4.5)


def test_short_passes_get_as_much_time_as_long_ones() -> None:
    clock = Clock()
    turns = turns_of(clock)
    long, short = turns.seat(), turns.seat()
    use(short, clock, 0.1)
    use(long, clock, 1.0)
    waiting = None
    for _ in range(9):
        # Its devices are back at once each time, so the long pass waits for them.
        with short.turn(lambda: 0.01):
            clock.now += 0.1
            waiting = Waiting(long) if waiting is None else waiting
        assert not waiting.begun.is_set()
    assert waiting is not None
    clock.now += 0.02
    use(turns.seat(), clock, 0.0)
    waiting.end()
    assert short.used == pytest.approx(1.0)


def test_devices_that_do_not_come_back_are_waited_for_no_longer_than_was_said() -> None:
    turns = DeviceTurns(release=lambda: None)
    behind, ahead = turns.seat(), turns.seat()
    with behind.turn(lambda: 0.02):
        behind.used = 0.0
    ahead.used, ahead.latest = 5.0, 1.0
    Waiting(ahead).end()
    assert ahead.number is None


def test_devices_that_need_long_for_a_token_are_not_waited_for() -> None:
    clock = Clock()
    turns = turns_of(clock)
    behind, ahead = turns.seat(), turns.seat()
    with behind.turn(lambda: 0.3):
        clock.now += 0.1
    ahead.used, ahead.latest = 5.0, 1.0
    Waiting(ahead).end()
    assert ahead.used == 5.0


def test_a_fault_in_a_turn_gives_it_back() -> None:
    turns = turns_of(Clock())
    faulty, other = turns.seat(), turns.seat()
    with pytest.raises(ZeroDivisionError), faulty.turn(lambda: pytest.fail("asked")):
        raise ZeroDivisionError
    Waiting(other).end()
    assert other.used == 0.0


def test_a_turn_inside_of_a_turn_is_the_same_one() -> None:
    clock = Clock()
    seat = turns_of(clock).seat()
    with seat.turn():
        use(seat, clock, 1.0)
        clock.now += 1.0
    assert seat.used == pytest.approx(2.0)


def test_who_leaves_keeps_nobody_waiting() -> None:
    clock = Clock()
    turns = turns_of(clock)
    gone, stays = turns.seat(), turns.seat()
    with gone.turn(lambda: 1000.0):
        clock.now += 1.0
    stays.used, stays.latest = 5.0, 4000.0
    waiting = Waiting(stays)
    assert not waiting.begun.is_set()
    gone.leave()
    waiting.end()
    assert turns.alone


def test_a_team_goes_when_another_model_computes() -> None:
    released: list[str] = []
    wishes: list[str] = []
    turns = turns_of(Clock(), released)
    first, second = turns.seat(lambda: wishes.append("first")), turns.seat()
    use(first, Clock(), 0.0)
    use(first, Clock(), 0.0)
    assert (wishes, released) == ([], [])
    # Whoever had the latest turn is told, once.
    use(second, Clock(), 0.0)
    use(second, Clock(), 0.0)
    assert wishes == ["first"]
    held = Waiting(second)
    # Whoever has to wait lets its own go.
    waiting = Waiting(first)
    until(lambda: len(released) == 1)
    held.end()
    waiting.end()


def test_between_two_turns_those_who_stood_aside_have_a_part_of_the_first_one() -> None:
    clock = Clock()
    turns = turns_of(clock)
    seat = turns.seat()
    assert turns.stand_aside(30.0) == 0.0
    with seat.turn():
        clock.now = 10.0
        assert clock.now >= turns.aside_from
        aside = threading.Thread(target=lambda: turns.stand_aside(30.0))
        aside.start()
        until(lambda: turns.aside)
    aside.join(30.0)
    # Nobody wants to compute.
    assert clock.now + 1e9 < turns.aside_from
    waiting = Waiting(seat)
    assert not waiting.begun.is_set()
    soon = 10.0 + 10.0 * _ASIDE
    assert turns.aside_from == soon
    clock.now = soon
    waiting.end()
    assert seat.number is None


@pytest.mark.parametrize("patience", [30.0, 0.001])
def test_a_thread_stands_aside_while_somebody_computes(patience: float) -> None:
    turns = DeviceTurns(release=lambda: None)
    assert turns.stand_aside(patience) == 0.0
    held = Waiting(turns.seat())
    assert held.begun.wait(30.0)
    waited: list[float] = []
    aside = threading.Thread(target=lambda: waited.append(turns.stand_aside(patience)))
    aside.start()
    end: Callable[[], None] = held.end if patience > 1.0 else aside.join
    end()
    aside.join(30.0)
    held.end()
    assert waited[0] > 0.0


def test_who_stands_aside_lets_its_team_go_and_who_need_not_keeps_it() -> None:
    released: list[str] = []
    turns = turns_of(Clock(), released)
    turns.stand_aside(0.001)
    assert not released
    held = Waiting(turns.seat())
    assert held.begun.wait(30.0)
    turns.stand_aside(0.001)
    held.end()
    assert released == [threading.current_thread().name]
