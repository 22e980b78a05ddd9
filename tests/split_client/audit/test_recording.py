"""Recordings hold the frames of the wire, byte for byte."""

from __future__ import annotations

from itertools import count

import pytest

from split_client.audit import recording
from split_client.audit.errors import RecordingTooLarge
from split_client.audit.recording import Exchange, Recorder
from split_client.errors import ConnectionLost
from split_client.transport.base import Transport


class Answering:
    """A transport that answers with the frame reversed; it loses frames that begin with ``x``."""

    name = "websocket"

    def __init__(self) -> None:
        self.accepted = 0
        self.closed = False

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        if frame.startswith(b"x"):
            raise ConnectionLost("gone")
        return frame[::-1]

    def accept(self, max_frame: int) -> None:
        self.accepted = max_frame

    def close(self) -> None:
        self.closed = True


def recorded() -> tuple[Recorder, Answering, Transport]:
    inner, ticks = Answering(), count()
    recorder = Recorder(lambda: float(next(ticks)))
    return recorder, inner, recorder.wrap(lambda _kind, _timeout: inner)("websocket", 1.0)


def test_both_directions_are_kept_with_their_times() -> None:
    recorder, _, transport = recorded()
    kept = recorder.start()
    assert transport.exchange(b"ab", 1.0) == b"ba"
    assert kept.exchanges == (Exchange(b"ab", b"ba", 0.0, 1.0),)


def test_a_frame_whose_answer_never_came_was_seen_all_the_same() -> None:
    recorder, _, transport = recorded()
    kept = recorder.start()
    with pytest.raises(ConnectionLost):
        transport.exchange(b"xy", 1.0)
    assert [(one.sent, one.received) for one in kept.exchanges] == [(b"xy", b"")]


def test_a_new_recording_leaves_the_old_one_alone() -> None:
    recorder, inner, transport = recorded()
    first = recorder.start()
    transport.exchange(b"1", 1.0)
    second = recorder.start()
    transport.exchange(b"2", 1.0)
    assert [one.sent for one in first.exchanges] == [b"1"]
    assert [one.sent for one in second.exchanges] == [b"2"]
    transport.accept(7)
    transport.close()
    assert (inner.accepted, inner.closed, transport.name) == (7, True, "websocket")


def test_recordings_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MAX_BYTES", 5)
    recorder, _, transport = recorded()
    recorder.start()
    transport.exchange(b"ab", 1.0)
    with pytest.raises(RecordingTooLarge):
        transport.exchange(b"c", 1.0)
