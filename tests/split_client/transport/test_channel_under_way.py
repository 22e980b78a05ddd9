"""Frames that are sent before the ones before them are answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from split_client.errors import ConnectionLost
from split_client.transport.channel import Channel

LOST = ConnectionLost("cut")


@dataclass
class Stream:
    """Answers frames in their order; what stands in ``faults`` is raised in place of an answer."""

    name: str = "websocket"
    log: list[str] = field(default_factory=list)
    faults: list[Any] = field(default_factory=list)
    waiting: list[bytes] = field(default_factory=list)

    def send(self, frame: bytes, timeout: float) -> None:
        self.log.append(f"sent {frame.decode()}")
        self.waiting.append(frame)

    def receive(self, timeout: float) -> bytes:
        fault = self.faults.pop(0) if self.faults else None
        if fault is not None:
            raise fault
        return b"to " + self.waiting.pop(0)

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        raise AssertionError("a stream sends and receives")

    def accept(self, max_frame: int) -> None:
        """Nothing is ever too long."""

    def close(self) -> None:
        self.log.append("closed")
        self.waiting.clear()


def over(stream: Stream) -> Channel:
    return Channel(lambda *_: stream, pause=lambda _: None)


def test_frames_are_sent_once_and_answered_in_their_order() -> None:
    stream = Stream()
    channel = over(stream)
    one, two, three = b"1", b"2", b"3"
    channel.prepare()
    channel.post(one)
    channel.post(one, two)
    assert channel.exchange(one, two) == b"to 1"
    channel.post(two, three)
    assert [channel.exchange(two, three), channel.exchange(three)] == [b"to 2", b"to 3"]
    assert stream.log == ["sent 1", "sent 2", "sent 3"]


def test_equal_bytes_that_are_made_again_are_sent_again() -> None:
    stream = Stream()
    channel = over(stream)
    for _ in range(2):
        assert channel.exchange(bytes(bytearray(b"same frame"))) == b"to same frame"
    assert stream.log == ["sent same frame"] * 2


def test_answers_to_frames_that_were_dropped_are_not_taken_for_others() -> None:
    stream = Stream()
    channel = over(stream)
    channel.prepare()
    channel.post(b"1", b"2", b"3")
    assert channel.exchange(b"4") == b"to 4"


def test_after_a_loss_the_first_frame_is_alone_until_it_is_answered() -> None:
    stream = Stream(faults=[LOST])
    channel = over(stream)
    one, two = b"1", b"2"
    assert channel.exchange(one, two) == b"to 1"
    assert channel.exchange(two) == b"to 2"
    assert stream.log == ["sent 1", "sent 2", "closed", "sent 1", "sent 2"]


def test_an_interruption_gives_the_connection_up() -> None:
    stream = Stream(faults=[KeyboardInterrupt()])
    channel = over(stream)
    with pytest.raises(KeyboardInterrupt):
        channel.exchange(b"1", b"2")
    assert channel.exchange(b"3") == b"to 3"
    assert stream.log == ["sent 1", "sent 2", "closed", "sent 3"]


def test_a_frame_that_is_posted_without_a_connection_goes_with_the_exchange() -> None:
    stream = Stream()
    channel = over(stream)
    frame = b"1"
    channel.post(frame)
    assert stream.log == []
    assert channel.exchange(frame) == b"to 1"


def test_leaving_is_not_waited_for() -> None:
    stream = Stream(faults=[AssertionError("waited")])
    channel = over(stream)
    channel.prepare()
    channel.send_once(b"bye", 2.0)
    channel.close()
    assert stream.log == ["sent bye", "closed"]
