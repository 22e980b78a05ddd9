"""Both state machines against each other, without I/O."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_wire.client import ClientProtocol, Event, SessionOpened, StepCompleted, StepFailed
from split_wire.returned import Rows
from split_wire.tensor import Tensor
from tests.split_wire.peer import WIDTH, Peer, answer_of, stored_rows


def rows(*values: float) -> NDArray[np.float32]:
    return np.repeat(np.array(values, np.float32)[:, None], WIDTH, axis=1)


def cache(*values: float) -> list[bytes]:
    return stored_rows(Tensor.from_f32(rows(*values), "f32"))


class Pair:
    """A device and a server that lose nothing unless a test says so."""

    def __init__(self) -> None:
        self.server = Peer("a")
        self.device = ClientProtocol(WIDTH, "m")
        assert isinstance(self.exchange(self.device.open()), SessionOpened)

    def exchange(self, frame: bytes) -> Event:
        (reply,) = self.server.receive(frame) or self.server.finish(self.server.running()[0])
        return self.device.receive(reply)

    def step(self, start: int, *values: float, want: Rows = "last") -> Event:
        return self.exchange(self.device.step(start, rows(*values), want))

    @property
    def session(self) -> str:
        assert self.device.opened is not None
        return self.device.opened.session

    def holds(self, *values: float) -> bool:
        held = self.server.sessions[self.session]
        return held.rows == cache(*values) and self.device.cached == held.state.cached


def completed(event: Event, *values: float) -> bool:
    answer = answer_of(cache(*values))
    return isinstance(event, StepCompleted) and bool((event.hidden == answer).all())


def failed(event: Event) -> str:
    assert isinstance(event, StepFailed)
    return event.failure.code


def test_prefill_and_decode_append_to_the_same_cache() -> None:
    pair = Pair()
    assert completed(pair.step(0, 1, 2, 3), 1, 2, 3)
    assert completed(pair.step(3, 4), 1, 2, 3, 4)
    assert completed(pair.step(4, 5, 6), 1, 2, 3, 4, 5, 6)
    assert pair.holds(1, 2, 3, 4, 5, 6)


def test_a_lost_reply_is_replayed_without_running_again() -> None:
    pair = Pair()
    pair.step(0, 1)
    frame = pair.device.step(1, rows(2))
    assert pair.server.receive(frame) == []
    pair.server.finish(pair.session)
    assert pair.device.outstanding == frame
    (reply,) = pair.server.receive(frame)
    assert completed(pair.device.receive(reply), 1, 2)
    assert pair.server.runs[pair.session, 2] == 1
    assert pair.holds(1, 2)


def test_a_request_repeated_while_it_runs_is_answered_once_for_each() -> None:
    pair = Pair()
    frame = pair.device.step(0, rows(1))
    for _ in range(3):
        assert pair.server.receive(frame) == []
    replies = pair.server.finish(pair.session)
    assert len(replies) == 3
    assert completed(pair.device.receive(replies[0]), 1)
    assert pair.server.runs[pair.session, 1] == 1


def test_rejected_drafts_are_rolled_back_by_the_next_step() -> None:
    pair = Pair()
    pair.step(0, 1, 2)
    pair.step(2, 7, 8, 9, want="all")
    assert completed(pair.step(3, 4), 1, 2, 7, 4)
    assert pair.holds(1, 2, 7, 4)


def test_an_edit_keeps_what_comes_before_it() -> None:
    pair = Pair()
    pair.step(0, 1, 2, 3)
    assert completed(pair.step(1, 9), 1, 9)
    assert completed(pair.step(0, 5), 5)
    assert pair.holds(5)


def test_a_failed_step_is_tried_again_with_the_same_bytes_or_others() -> None:
    pair = Pair()
    pair.step(0, 1)
    for values in ((2,), (2,), (3,)):
        assert pair.server.receive(pair.device.step(1, rows(*values))) == []
        (reply,) = pair.server.fail(pair.session, truncated=False)
        assert failed(pair.device.receive(reply)) == "overloaded"
    assert completed(pair.step(1, 3), 1, 3)


def test_a_step_that_failed_half_way_is_never_continued_on_a_shorter_cache() -> None:
    pair = Pair()
    pair.step(0, 1, 2, 3)
    assert pair.server.receive(pair.device.step(1, rows(4))) == []
    (reply,) = pair.server.fail(pair.session, truncated=True)
    assert failed(pair.device.receive(reply)) == "internal_error"
    assert failed(pair.step(3, 4)) == "start_beyond_cache"
    assert completed(pair.step(0, 1, 2, 3), 1, 2, 3)


def test_a_session_that_wandered_and_came_back_rewritten_is_not_continued() -> None:
    pair = Pair()
    pair.step(0, 1, 2)
    held = pair.server.sessions[pair.session]
    stale = Peer("a")
    stale.receive(ClientProtocol(WIDTH, "m").open())
    other = Pair()
    other.step(0, 1, 9)
    stale.sessions = {pair.session: other.server.sessions[other.session]}
    pair.server = stale
    # Step numbers agree on both servers; the rows do not.
    event = pair.step(2, 3)
    assert failed(event) == "prefix_mismatch"
    assert completed(pair.step(0, 1, 2, 3), 1, 2, 3)
    assert held.rows == cache(1, 2)


def test_a_session_that_missed_a_step_elsewhere_is_not_continued() -> None:
    pair = Pair()
    pair.step(0, 1)
    held = pair.server.sessions[pair.session]
    left_behind = list(held.rows)
    elsewhere = Pair()
    elsewhere.step(0, 1)
    home, pair.server = pair.server, elsewhere.server
    pair.step(1, 2)
    pair.server = home
    assert failed(pair.step(2, 3)) == "step_conflict"
    assert held.rows == left_behind


def test_a_lost_session_is_opened_again_and_everything_is_sent() -> None:
    pair = Pair()
    pair.step(0, 1, 2)
    pair.server.sessions.clear()
    assert failed(pair.step(2, 3)) == "unknown_session"
    assert isinstance(pair.exchange(pair.device.open()), SessionOpened)
    assert pair.device.cached == 0
    assert completed(pair.step(0, 1, 2, 3), 1, 2, 3)


def test_a_frame_damaged_on_its_way_ends_the_step_and_can_be_sent_again() -> None:
    pair = Pair()
    frame = pair.device.step(0, rows(1))
    (reply,) = pair.server.receive(frame[:-1])
    assert failed(pair.device.receive(reply)) == "malformed_frame"
    assert pair.device.outstanding is None
    assert completed(pair.step(0, 1), 1)


def test_another_model_refuses_the_open() -> None:
    device = ClientProtocol(WIDTH, "mine")
    (reply,) = Peer("a", manifest="theirs").receive(device.open())
    assert failed(device.receive(reply)) == "model_changed"


def test_a_closed_session_is_gone() -> None:
    pair = Pair()
    pair.step(0, 1)
    frame = pair.device.close()
    assert frame is not None
    pair.server.receive(frame)
    assert pair.server.sessions == {}


def test_two_devices_do_not_touch_each_other() -> None:
    pair = Pair()
    pair.step(0, 1, 2)
    second = ClientProtocol(WIDTH, "m")
    second.receive(pair.server.receive(second.open())[0])
    assert pair.server.receive(second.step(0, rows(8))) == []
    assert completed(pair.device.receive(_finish_after(pair, 3)), 1, 2, 3)
    (name,) = pair.server.running()
    assert completed(second.receive(pair.server.finish(name)[0]), 8)


def _finish_after(pair: Pair, value: float) -> bytes:
    assert pair.server.receive(pair.device.step(2, rows(value))) == []
    (reply,) = pair.server.finish(pair.session)
    return reply
