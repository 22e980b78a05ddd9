"""A WebSocket that is opened while other things are done."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from split_client.errors import UpgradeRefused
from split_client.transport.early import EarlySocket, begun_early
from tests.patience import PATIENCE, until


class Made:
    """A transport that tells what is done with it."""

    name = "websocket"

    def __init__(self) -> None:
        self.closed, self.accepted = False, 0

    def accept(self, max_frame: int) -> None:
        self.accepted = max_frame

    def close(self) -> None:
        self.closed = True


class Connecting:
    """``connect`` of a channel: makes transports, or raises ``error``; waits for ``go``."""

    def __init__(self, error: Exception | None = None) -> None:
        self.kinds: list[str] = []
        self.made: list[Made] = []
        self.go = threading.Event()
        self.go.set()
        self._error = error

    def __call__(self, kind: str, timeout: float) -> Any:
        self.kinds.append(kind)
        assert self.go.wait(PATIENCE)
        if self._error is not None:
            raise self._error
        self.made.append(Made())
        return self.made[-1]


def test_the_first_websocket_is_the_one_that_was_begun() -> None:
    connect = Connecting()
    taking = begun_early(connect, EarlySocket(connect, 1.0), 500)  # type: ignore[arg-type]
    first, second = taking("websocket", 1.0), taking("websocket", 1.0)
    assert [first, second] == connect.made
    assert [made.accepted for made in connect.made] == [500, 0]


def test_http_does_not_wait_for_it() -> None:
    connect = Connecting()
    connect.go.clear()
    early = EarlySocket(connect, 1.0)  # type: ignore[arg-type]
    connect.go.set()
    begun_early(connect, early, 500)("http", 1.0)  # type: ignore[arg-type]
    assert "http" in connect.kinds
    early.close()


def test_a_refused_upgrade_is_told_once_and_then_tried_again() -> None:
    connect = Connecting(UpgradeRefused("no"))
    taking = begun_early(connect, EarlySocket(connect, 1.0), 500)  # type: ignore[arg-type]
    with pytest.raises(UpgradeRefused):
        taking("websocket", 1.0)
    assert connect.kinds == ["websocket"]
    with pytest.raises(UpgradeRefused):
        taking("websocket", 1.0)
    assert connect.kinds == ["websocket"] * 2


def test_a_fault_of_another_kind_is_left_to_whoever_connects_in_its_place() -> None:
    early = EarlySocket(Connecting(ValueError("odd")), 1.0)  # type: ignore[arg-type]
    assert early.take() is None


def test_one_that_was_silent_for_too_long_is_not_used() -> None:
    # The handshake is done at 0 s, and the connection taken at 60 s.
    times, connect = iter([0.0, 60.0]), Connecting()
    early = EarlySocket(connect, 1.0, lambda: next(times))  # type: ignore[arg-type]
    assert early.take() is None
    assert connect.made[0].closed


@pytest.mark.parametrize("connected", [True, False])
def test_one_that_nobody_takes_is_closed(connected: bool) -> None:
    connect = Connecting()
    if not connected:
        connect.go.clear()
    early = EarlySocket(connect, 1.0)  # type: ignore[arg-type]
    if connected:
        until(lambda: connect.made)
    early.close()
    connect.go.set()
    until(lambda: connect.made and connect.made[0].closed)
