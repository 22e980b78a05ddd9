"""Arbitrary losses, repetitions, reorderings, failures and evictions, against a model of truth."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from split_wire.client import ClientProtocol, SessionOpened, StepCompleted, StepFailed
from split_wire.tensor import Tensor
from tests.exhaustive import EXHAUSTIVE
from tests.split_wire.peer import (
    MAX_CONTEXT,
    MAX_ROWS,
    WIDTH,
    Peer,
    answer_of,
    stored_rows,
)

REOPEN = {"unknown_session", "step_conflict", "internal_error"}
RESEND = {"prefix_mismatch", "start_beyond_cache"}
# A session that ends all the time never gets into trouble.
STEPS_BEFORE_AN_END = 2

ModelRun = Literal["runs", "is overloaded", "breaks", "is slow"]


class UnreliableNetwork(RuleBasedStateMachine):
    """``believed``: the rows that the device thinks are cached, by the test's own bookkeeping.

    ``up`` and ``down`` are frames on their way; ``late`` are copies that arrive at any later time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.server = Peer("s")
        self.device = ClientProtocol(WIDTH, "m")
        self.up: list[bytes] = []
        self.down: list[bytes] = []
        self.late_up: list[bytes] = []
        self.late_down: list[bytes] = []
        self.believed: list[bytes] = []
        self.sent: tuple[int, list[bytes]] = (0, [])
        self.from_start = False
        self.completed = 0
        self.completed_here = 0
        self._open()
        self.everything_arrives("runs", replies_lost=False)

    # The device.

    def _open(self) -> None:
        self.up.append(self.device.open())
        self._forget()

    def _forget(self) -> None:
        self.believed, self.from_start, self.completed_here = [], False, 0

    @precondition(lambda self: self.device.opened and not self.device.outstanding)
    @rule(
        data=st.data(),
        values=st.lists(st.integers(0, 2), min_size=1, max_size=MAX_ROWS),
        copied=st.booleans(),
    )
    def step(self, data: st.DataObject, values: list[int], copied: bool) -> None:
        room = min(len(self.believed), MAX_CONTEXT - len(values))
        start = 0 if self.from_start else data.draw(st.integers(0, room), label="start")
        self._send_step(start, values)
        if copied:
            self.late_up.append(self.up[-1])

    def _send_step(self, start: int, values: list[int]) -> None:
        embeddings = np.repeat(np.array(values, np.float32)[:, None], WIDTH, axis=1)
        self.up.append(self.device.step(start, embeddings))
        self.sent = (start, stored_rows(Tensor.from_f32(embeddings, "f32")))
        self.from_start = False

    @precondition(lambda self: self.device.outstanding)
    @rule()
    def send_again(self) -> None:
        assert self.device.outstanding is not None
        self.up.append(self.device.outstanding)

    @precondition(lambda self: self.completed_here >= STEPS_BEFORE_AN_END)
    @rule(closed=st.booleans())
    def start_over(self, closed: bool) -> None:
        frame = self.device.close()
        assert frame is not None
        if closed:
            self.up.append(frame)
        self._open()

    def _take(self, frame: bytes) -> None:
        match self.device.receive(frame):
            case SessionOpened():
                self._forget()
            case StepCompleted(hidden=hidden, cached=cached):
                start, rows = self.sent
                self.believed[start:] = rows
                self.completed += 1
                self.completed_here += 1
                assert (hidden == answer_of(self.believed)).all()
                assert cached == len(self.believed)
            case StepFailed(failure=failure) if failure.code in REOPEN or not self.device.opened:
                self._open()
            case StepFailed(failure=failure):
                self.from_start = failure.code in RESEND

    # The network.

    @precondition(lambda self: self.up or self.down)
    @rule(
        model=st.sampled_from(["runs", "runs", "is overloaded", "breaks", "is slow"]),
        replies_lost=st.booleans(),
    )
    def everything_arrives(self, model: ModelRun, replies_lost: bool) -> None:
        frames, self.up = self.up, []
        for frame in frames:
            self.down += self.server.receive(frame)
            for session in self.server.running():
                self._model(session, model)
        frames, self.down = self.down, []
        if not replies_lost:
            for frame in frames:
                self._take(frame)

    @precondition(lambda self: len(self.up) > 1 or len(self.down) > 1)
    @rule(data=st.data())
    def frames_overtake_each_other(self, data: st.DataObject) -> None:
        self.up = data.draw(st.permutations(self.up), label="up")
        self.down = data.draw(st.permutations(self.down), label="down")

    @precondition(lambda self: self.up)
    @rule(fate=st.sampled_from(["lost", "cut", "copied"]))
    def a_request_is_spoiled(self, fate: str) -> None:
        if fate == "copied":
            self.late_up.append(self.up[-1])
            return
        frame = self.up.pop()
        if fate == "cut":
            self.up.append(frame[:-1])

    @precondition(lambda self: self.down)
    @rule()
    def a_reply_is_copied(self) -> None:
        self.late_down.append(self.down[-1])

    @precondition(lambda self: self.late_up or self.late_down)
    @rule(data=st.data(), first=st.booleans())
    def a_late_copy_arrives(self, data: st.DataObject, first: bool) -> None:
        for late, frames in ((self.late_up, self.up), (self.late_down, self.down)):
            if late:
                frame = late.pop(data.draw(st.integers(0, len(late) - 1)))
                frames.insert(0 if first else len(frames), frame)

    # The server.

    def _model(self, session: str, model: ModelRun) -> None:
        if model == "runs":
            self.down += self.server.finish(session)
        elif model != "is slow":
            self.down += self.server.fail(session, truncated=model == "breaks")

    @precondition(lambda self: self.server.running())
    @rule(model=st.sampled_from(["runs", "is overloaded", "breaks"]))
    def the_slow_model_is_done(self, model: ModelRun) -> None:
        for session in self.server.running():
            self._model(session, model)

    @precondition(lambda self: self.completed_here >= STEPS_BEFORE_AN_END)
    @rule()
    def the_server_evicts(self) -> None:
        opened = self.device.opened
        assert opened is not None
        self.server.sessions.pop(opened.session, None)

    # What must hold.

    @invariant()
    def nothing_is_appended_twice(self) -> None:
        assert all(count == 1 for count in self.server.runs.values())

    @invariant()
    def the_server_counts_what_it_holds(self) -> None:
        for held in self.server.sessions.values():
            assert held.state.cached == len(held.rows)
            assert held.state.busy == (held.running is not None)

    @invariant()
    def the_device_counts_what_it_believes(self) -> None:
        assert self.device.cached == len(self.believed)

    def teardown(self) -> None:
        """Once the network works, a step completes."""
        self.up, self.down = [], []
        before = self.completed
        for _ in range(6):
            self._one_round()
            if self.completed > before:
                return
        raise AssertionError("no step completed on a working network")

    def _one_round(self) -> None:
        if self.device.outstanding is not None:
            self.up.append(self.device.outstanding)
        elif self.device.opened is None:
            self._open()
        else:
            room = min(len(self.believed), MAX_CONTEXT - 1)
            self._send_step(0 if self.from_start else room, [1])
        self.everything_arrives("runs", replies_lost=False)
        for session in self.server.running():
            self._model(session, "runs")


TestUnreliableNetwork: Any = UnreliableNetwork.TestCase
TestUnreliableNetwork.settings = settings(
    max_examples=200 if EXHAUSTIVE else 60, stateful_step_count=40, deadline=None
)
