"""The way back to WebSockets from HTTP that works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from split_client.errors import ConnectionLost, TokenInvalid, UpgradeRefused
from split_client.transport.carriers.returning import FIRST, LONGEST, Returning
from split_wire.codec import encode_message
from split_wire.messages import Ping
from tests.patience import until

TIMEOUT = 10.0


class Socket:
    name = "websocket"

    def __init__(self, error: Exception | None) -> None:
        self.closed, self.sent = False, b""
        self._error = error

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        self.sent = frame
        if self._error is not None:
            raise self._error
        return b"pong"

    def close(self) -> None:
        self.closed = True


class Net:
    """``refusal``: of the handshake, ``loss``: of the first frame; attempts wait for ``go``."""

    def __init__(self) -> None:
        self.now = 0.0
        self.refusal: BaseException | None = None
        self.loss: Exception | None = None
        self.go = threading.Event()
        self.go.set()
        self.made: list[Socket] = []
        self.tries: list[float] = []
        self.returning = Returning(self._connect, TIMEOUT, lambda: self.now)

    def _connect(self, kind: str, timeout: float) -> Any:
        assert (kind, timeout) == ("websocket", TIMEOUT)
        self.tries.append(self.now)
        self.go.wait(60)
        if self.refusal is not None:
            raise self.refusal
        self.made.append(Socket(self.loss))
        return self.made[-1]

    def socket(self) -> Any:
        """What is there for the next frame, once an attempt that was begun has ended."""
        found = self.returning.socket()
        attempt = self.returning._attempt
        if attempt is not None and self.go.is_set():
            until(lambda: attempt.done)
        return found

    def over_http(self, seconds: float) -> Any:
        """One frame a second; the socket that takes over, if one does."""
        for _ in range(round(seconds)):
            found = self.socket()
            if found is not None:
                return found
            self.now += 1.0
        return None


@pytest.fixture
def net() -> Iterator[Net]:
    made = Net()
    yield made
    made.go.set()
    made.returning.close()


def test_a_socket_that_answers_a_ping_takes_over(net: Net) -> None:
    found = net.over_http(60)
    assert found is net.made[0]
    assert (found.sent, found.closed) == (encode_message(Ping()), False)
    assert net.now <= FIRST + 1


def test_nothing_waits_for_an_attempt(net: Net) -> None:
    net.go.clear()
    assert net.over_http(100) is None
    assert len(net.tries) == 1
    net.go.set()


@pytest.mark.parametrize(
    "refusal", [UpgradeRefused("no"), ConnectionLost("cut"), TokenInvalid(), RuntimeError("bug")]
)
def test_attempts_become_rarer_and_stay_within_a_minute(net: Net, refusal: Exception) -> None:
    net.refusal = refusal
    assert net.over_http(600) is None
    gaps = [after - before for before, after in zip(net.tries, net.tries[1:], strict=False)]
    assert net.tries[0] == FIRST
    assert gaps[0] < gaps[-1]
    assert max(gaps) + TIMEOUT < 60
    assert len(net.tries) < 600 / LONGEST + 4


def test_a_socket_that_answers_nothing_is_closed_and_not_taken(net: Net) -> None:
    net.loss = ConnectionLost("silent")
    assert net.over_http(FIRST + 5) is None
    assert [socket.closed for socket in net.made] == [True]


def test_a_socket_that_was_ready_for_long_is_not_taken(net: Net) -> None:
    net.over_http(FIRST)
    assert net.socket() is None
    net.now += 100
    assert net.socket() is None
    assert net.made[0].closed
    assert net.over_http(60) is net.made[1]


def test_after_a_socket_that_worked_the_next_return_begins_soon_again(net: Net) -> None:
    net.refusal = UpgradeRefused("no")
    net.over_http(200)
    net.refusal = None
    assert net.over_http(60) is not None
    net.returning.worked()
    began = net.now
    assert net.over_http(60) is not None
    assert net.now - began <= FIRST + 1


def test_an_attempt_under_way_is_closed_with_the_channel(net: Net) -> None:
    net.go.clear()
    net.over_http(FIRST + 1)
    net.returning.close()
    net.go.set()
    until(lambda: net.made and net.made[0].closed)
    assert net.returning.socket() is None
