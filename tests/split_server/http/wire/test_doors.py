"""Places for connections, with strangers who stand in the door."""

from __future__ import annotations

import pytest

from split_server.http.wire.doors import DoorLimits, Doors, Place
from split_wire.errors import Overloaded

_LIMITS = DoorLimits(total=10, per_address=4, strangers=6, strangers_per_address=2)


class _Street:
    """Connections that come to a door; ``gone`` were aborted."""

    def __init__(self, limits: DoorLimits = _LIMITS) -> None:
        self.doors = Doors(limits)
        self.gone: list[Place] = []

    def come(self, address: str, known: bool = False) -> Place:
        place = self.doors.enter(address)
        place.abort = lambda: self.gone.append(place)
        if known:
            place.know()
        return place


def test_a_stranger_too_many_of_one_address_takes_the_place_of_its_first() -> None:
    street = _Street()
    first, second, other = street.come("10.0.0.1"), street.come("10.0.0.1"), street.come("10.0.0.2")
    street.come("10.0.0.1")
    assert street.gone == [first]
    street.come("10.0.0.1")
    assert street.gone == [first, second]
    assert len(street.doors) == 3
    other.leave()
    assert len(street.doors) == 2


def test_who_was_let_in_is_no_stranger_and_stays() -> None:
    street = _Street()
    for _ in range(4):
        street.come("10.0.0.1", known=True)
    with pytest.raises(Overloaded, match="4 connections of one address"):
        street.come("10.0.0.1")
    assert not street.gone


def test_at_the_limit_of_an_address_its_stranger_makes_room() -> None:
    street = _Street()
    stranger = street.come("10.0.0.1")
    for _ in range(3):
        street.come("10.0.0.1", known=True)
    street.come("10.0.0.1")
    assert street.gone == [stranger]


def test_strangers_from_everywhere_leave_room_for_whoever_comes_next() -> None:
    street = _Street()
    places = [street.come(f"10.0.0.{number}") for number in range(8)]
    assert street.gone == places[:2]
    assert len(street.doors) == 6
    for number in range(4):
        street.come(f"10.0.1.{number}", known=True)
    assert len(street.doors) <= 10


def test_when_all_are_let_in_nobody_else_is() -> None:
    street = _Street()
    for number in range(10):
        street.come(f"10.0.0.{number}", known=True)
    with pytest.raises(Overloaded, match="10 connections"):
        street.come("10.0.1.1")


def test_a_balancer_has_no_limit_of_its_own_and_the_same_total() -> None:
    limits = DoorLimits(
        total=10, per_address=4, strangers=6, strangers_per_address=2, balancers=["127.0.0.1"]
    )
    street = _Street(limits)
    for _ in range(10):
        street.come("127.0.0.1", known=True)
    assert not street.gone
    with pytest.raises(Overloaded, match="10 connections"):
        street.come("127.0.0.1")


def test_a_connection_leaves_once() -> None:
    street = _Street()
    place = street.come("10.0.0.1")
    place.leave()
    place.leave()
    assert len(street.doors) == 0
    assert not street.doors._held


def test_however_many_are_sent_away_there_is_one_line_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    doors = Doors(_LIMITS, clock=lambda: now[0])
    for _ in range(500):
        doors.enter("10.0.0.1")
    assert caplog.text.count("the door is crowded") == 1
    now[0] = 61.0
    doors.enter("10.0.0.1")
    assert "499 connections sent away" in caplog.text
