"""Small frames that are parsed a few at a time, however fast they arrive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from split_server.http.wire.inlet import (
    FRAMES_PER_SECOND,
    LONGEST_BEHIND,
    LONGEST_PIECE,
    SHORTEST_PIECE,
    Inlet,
    Pace,
)


class _Loop:
    """A clock that the test moves, and what is to be called later."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, work: Callable[[], None]) -> Any:
        entry = (self.now + seconds, work)
        self.due.append(entry)
        return type("Handle", (), {"cancel": lambda _: self.due.remove(entry)})()

    def run(self) -> None:
        """Move to the next call and make it."""
        at, work = self.due.pop(0)
        self.now = at
        work()


class _Transport:
    def __init__(self) -> None:
        self.reading, self.aborted = True, False

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True


class _Fixture:
    """``bytes_per_frame``: every so many bytes that are parsed are a small frame; 0: none."""

    def __init__(self, bytes_per_frame: int = 0, loop: _Loop | None = None) -> None:
        self.loop, self.transport = loop or _Loop(), _Transport()
        self.pieces: list[bytes] = []
        self.bytes_per_frame = bytes_per_frame
        self.on_piece: Callable[[], None] = lambda: None
        self.inlet = Inlet(self.transport, self._parse, self.loop)  # type: ignore[arg-type]

    def _parse(self, piece: bytes) -> int:
        self.pieces.append(piece)
        self.on_piece()
        return len(piece) // self.bytes_per_frame if self.bytes_per_frame else 0


def test_a_large_frame_is_parsed_at_once_and_in_order() -> None:
    one = _Fixture()
    data = bytes(range(256)) * 400
    one.inlet.take(data)
    assert b"".join(one.pieces) == data
    assert max(map(len, one.pieces)) == LONGEST_PIECE
    assert one.transport.reading
    assert not one.loop.due


def test_a_piece_is_short_again_after_small_frames() -> None:
    one = _Fixture()
    one.inlet.take(bytes(100_000))
    one.bytes_per_frame = 1000
    one.inlet.take(bytes(2 * LONGEST_PIECE))
    assert [len(piece) for piece in one.pieces[-2:]] == [SHORTEST_PIECE] * 2


def test_small_frames_take_their_time_and_nothing_is_read_meanwhile() -> None:
    one = _Fixture(bytes_per_frame=7)
    data = bytes(256 * 1024)
    one.inlet.take(data)
    assert len(one.pieces) == 1
    assert not one.transport.reading
    while one.loop.due:
        parsed = len(one.pieces)
        one.loop.run()
        assert len(one.pieces) <= parsed + 1
    assert b"".join(one.pieces) == data
    assert one.transport.reading
    assert len(data) / 7 / one.loop.now == pytest.approx(FRAMES_PER_SECOND, rel=0.05)


def test_small_frames_one_at_a_time_do_not_wait() -> None:
    one = _Fixture(bytes_per_frame=100)
    for _ in range(2000):
        one.inlet.take(bytes(100))
        one.loop.now += 1e-3
    assert len(one.pieces) == 2000
    assert not one.loop.due


def test_whoever_pauses_reading_pauses_the_parser() -> None:
    one = _Fixture()
    one.on_piece = one.inlet.pause_reading
    one.inlet.take(bytes(SHORTEST_PIECE + 2 * SHORTEST_PIECE + 100))
    assert (len(one.pieces), one.transport.reading) == (1, False)
    one.inlet.resume_reading()
    assert (len(one.pieces), one.transport.reading) == (2, False)
    one.inlet.resume_reading()
    one.inlet.resume_reading()
    assert (len(one.pieces), one.transport.reading) == (3, True)


def test_a_parser_that_resumes_reading_is_not_entered_again() -> None:
    one = _Fixture()
    one.on_piece = one.inlet.resume_reading
    data = bytes(range(200)) * 100
    one.inlet.take(data)
    assert b"".join(one.pieces) == data


def test_nothing_is_parsed_once_the_connection_is_lost() -> None:
    one = _Fixture(bytes_per_frame=7)
    one.inlet.take(bytes(256 * 1024))
    one.inlet.drop()
    assert not one.loop.due
    assert len(one.pieces) == 1


def test_connections_with_a_shared_pace_are_together_no_faster_than_it() -> None:
    loop = _Loop()
    shared = Pace(loop.time, 4096.0, 256.0)
    many = [_Fixture(bytes_per_frame=7, loop=loop) for _ in range(10)]
    data = bytes(64 * 1024)
    for one in many:
        one.inlet.shared = shared
        one.inlet.take(data)
    assert sum(len(one.pieces) for one in many) == 1
    while loop.due:
        loop.due.sort(key=lambda entry: entry[0])
        loop.run()
    assert all(b"".join(one.pieces) == data for one in many)
    assert len(many) * len(data) / 7 / loop.now == pytest.approx(4096.0, rel=0.05)


def test_a_transport_that_is_given_up_is_read_again() -> None:
    one = _Fixture(bytes_per_frame=7)
    one.inlet.take(bytes(256 * 1024))
    assert not one.transport.reading
    assert one.inlet.give_up() is one.transport  # type: ignore[comparison-overlap]
    assert one.transport.reading
    assert not one.loop.due


def test_whoever_stays_behind_is_cut_off() -> None:
    one = _Fixture(bytes_per_frame=3)
    one.inlet.take(bytes(256 * 1024))
    while one.loop.due:
        one.loop.run()
    assert one.transport.aborted
    assert one.loop.now == pytest.approx(LONGEST_BEHIND, abs=1.0)
