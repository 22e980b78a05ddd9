"""Devices that are refused a session ask elsewhere, and wait when nobody has a place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from split_client.errors import ServerRefused
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.remote import RemoteBackend
from split_client.transport.routing.route import Route
from split_wire.codec import decode_client_message, encode_message
from split_wire.messages import Failure, Open
from tests.split_client.servers import PeerAnswer, socket_server
from tests.split_client.transport.rigs import rows, truth
from tests.split_wire.peer import LIMIT, WIDTH

FULL = Failure("too_many_sessions", "full", True, 4.0)


class Crowd:
    """A server that refuses the next ``refusals`` sessions; a device on its way to it."""

    def __init__(self, refusals: list[Failure | None]) -> None:
        self.refusals = refusals
        self.peer = PeerAnswer()
        self.opens: list[Open] = []
        self.waits: list[float] = []
        self.now = 0.0

    def answer(self, frame: bytes) -> bytes:
        message = decode_client_message(frame, LIMIT)
        if isinstance(message, Open):
            self.opens.append(message)
            failure = self.refusals.pop(0) if self.refusals else None
            if failure is not None:
                return encode_message(failure)
        return self.peer(frame)

    def pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @contextmanager
    def device(self, route: Route | None) -> Iterator[Device]:
        with socket_server(self.answer) as endpoint:
            device = Device(self, endpoint, route)
            yield device
            device.channel.close()


class Device:
    """``went``: the routing id of each connection that was made."""

    def __init__(self, crowd: Crowd, endpoint: Any, route: Route | None) -> None:
        self.went: list[str | None] = []
        self._crowd = crowd
        plain = connector(endpoint, None, LIMIT, route)

        def connect(kind: Any, timeout: float) -> Any:
            self.went.append(None if route is None else route.id)
            return plain(kind, timeout)

        self.channel = Channel(connect, route=route, pause=crowd.pause, clock=lambda: crowd.now)

    def sequence(self) -> Sequence:
        crowd = self._crowd
        backend = RemoteBackend(
            self.channel, WIDTH, "m", 100, pause=crowd.pause, clock=lambda: crowd.now
        )
        return Sequence(backend, rows)


def numbered() -> Route:
    """Ids that tell how often it was changed."""
    ids = iter(range(100))
    return Route(make=lambda: str(next(ids)))


@pytest.mark.parametrize("code", ["too_many_sessions", "overloaded", "cache_full"])
def test_a_refused_device_asks_elsewhere_at_once(code: str) -> None:
    crowd = Crowd([Failure(code, "full", True, 4.0)])
    with crowd.device(numbered()) as device:
        assert list(device.sequence().extend([1, 2]).hidden) == truth([1, 2])
        assert (device.went, crowd.waits) == (["0", "1"], [])
    assert [asked.wait for asked in crowd.opens] == [False, False]


def test_after_three_refusals_it_says_that_it_waits() -> None:
    crowd = Crowd([FULL] * 3)
    with crowd.device(numbered()) as device:
        assert list(device.sequence().extend([1]).hidden) == truth([1])
        assert (device.went, crowd.waits) == (["0", "1", "2", "3"], [])
    assert [asked.wait for asked in crowd.opens] == [False, False, False, True]


def test_where_it_has_waited_in_vain_it_pauses_before_it_asks_elsewhere() -> None:
    crowd = Crowd([FULL] * 5)
    with crowd.device(numbered()) as device:
        assert list(device.sequence().extend([1]).hidden) == truth([1])
        assert device.went == [str(number) for number in range(6)]
    assert crowd.waits == [4.0, 4.0]
    assert [asked.wait for asked in crowd.opens] == [False] * 3 + [True] * 3


def test_machines_that_stay_full_are_given_up() -> None:
    crowd = Crowd([FULL] * 999)
    with crowd.device(numbered()) as device, pytest.raises(ServerRefused) as caught:
        device.sequence().extend([1])
    assert caught.value.code == "too_many_sessions"
    assert 290 < crowd.now <= 300
    # No more questions than without routing ids, but for the moves.
    assert len(crowd.opens) == 3 + len(crowd.waits) + 1


def test_a_later_session_of_the_connection_begins_where_the_last_one_was() -> None:
    crowd = Crowd([FULL])
    with crowd.device(numbered()) as device:
        first = device.sequence()
        first.extend([1])
        first.close()
        assert list(device.sequence().extend([2]).hidden) == truth([2])
        assert device.went == ["0", "1"]


def test_a_device_with_another_session_there_stays_and_waits() -> None:
    crowd = Crowd([None, FULL, FULL])
    with crowd.device(numbered()) as device:
        first, second = device.sequence(), device.sequence()
        first.extend([1])
        assert list(second.extend([2]).hidden) == truth([2])
        assert list(first.extend([1, 3]).hidden) == truth([1, 3])
        assert (device.went, crowd.waits) == (["0"], [4.0, 4.0])
    assert [asked.wait for asked in crowd.opens] == [False, False, True, True]


def test_without_a_routing_id_a_device_stays_and_waits() -> None:
    crowd = Crowd([FULL])
    with crowd.device(None) as device:
        assert list(device.sequence().extend([1]).hidden) == truth([1])
        assert (device.went, crowd.waits) == ([None], [4.0])
    assert [asked.wait for asked in crowd.opens] == [False, True]


def test_another_refusal_is_not_moved_away_from() -> None:
    crowd = Crowd([Failure("shutting_down", "later", True, 2.0)])
    with crowd.device(numbered()) as device:
        device.sequence().extend([1])
        assert (device.went, crowd.waits) == (["0"], [2.0])
    assert [asked.wait for asked in crowd.opens] == [False, False]


def test_a_session_that_was_asked_for_ahead_of_time_goes_elsewhere_too() -> None:
    crowd = Crowd([FULL])
    with crowd.device(numbered()) as device:
        sequence = device.sequence()
        sequence._backend.prepare()  # type: ignore[attr-defined]
        assert list(sequence.extend([1]).hidden) == truth([1])
        assert (device.went, crowd.waits) == (["0", "1"], [])
