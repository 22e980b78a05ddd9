"""Steps whose exchange was broken off, and the session that goes on."""

from __future__ import annotations

import pytest

from split_client.errors import (
    ConnectionLost,
)
from split_wire.codec import decode_client_message, encode_message
from split_wire.messages import Failure, Step
from tests.split_client.servers import PeerAnswer, socket_server
from tests.split_client.transport.rigs import Rig, truth
from tests.split_wire.peer import (
    LIMIT,
)


class Interrupted:
    """Has ``rig``'s channel interrupted once: before a frame is sent, or once it is answered."""

    def __init__(self, rig: Rig, error: BaseException, *, answered: bool) -> None:
        self._exchange = rig.channel.exchange
        self._error: BaseException | None = error
        self._answered = answered
        rig.channel.exchange = self  # type: ignore[method-assign, assignment]
        if not answered:
            rig.channel.post = lambda *_: None  # type: ignore[method-assign]

    def __call__(self, *frames: bytes) -> bytes:
        error, self._error = self._error, None
        if error is None:
            return self._exchange(*frames)
        if self._answered:
            self._exchange(*frames)
        raise error


def test_an_interrupted_step_is_not_continued(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.extend([1, 2])

    def interrupt(_: bytes) -> bytes:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(rig.channel, "exchange", interrupt)
        with pytest.raises(KeyboardInterrupt):
            rig.extend([1, 2, 3])
    assert rig.sequence.cached == 0
    assert rig.extend([1, 2, 3]) == truth([1, 2, 3])


@pytest.mark.parametrize("answered", [True, False])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), ConnectionLost("away for two minutes")])
def test_after_an_exchange_that_was_broken_off_the_session_goes_on(
    rig: Rig, peer: PeerAnswer, error: BaseException, answered: bool
) -> None:
    rig.extend([1, 2, 3, 4])
    Interrupted(rig, error, answered=answered)
    with pytest.raises(type(error)):
        rig.extend([1, 2, 3, 4, 5])
    before = len(peer.frames)
    assert rig.extend([1, 2, 3, 4, 5, 6]) == truth([1, 2, 3, 4, 5, 6])
    sent = [decode_client_message(frame, LIMIT) for frame in peer.frames[before:]]
    assert [message.embeddings.rows for message in sent if isinstance(message, Step)] == [1, 1]
    assert rig.backend.sessions_opened == 1
    assert set(peer.peer.runs.values()) == {1}


def test_after_a_broken_off_step_another_conversation_begins_in_the_same_session(rig: Rig) -> None:
    rig.extend([1, 2, 3, 4])
    Interrupted(rig, KeyboardInterrupt(), answered=True)
    with pytest.raises(KeyboardInterrupt):
        rig.extend([1, 2, 9, 9])
    assert rig.extend([1, 7]) == truth([1, 7])
    assert rig.backend.sessions_opened == 1


def test_a_broken_off_step_that_is_refused_when_it_is_sent_again_costs_no_session(
    peer: PeerAnswer,
) -> None:
    refusing: list[bool] = []

    def answer(frame: bytes) -> bytes:
        message = decode_client_message(frame, LIMIT)
        if refusing and isinstance(message, Step):
            refusing.pop()
            return encode_message(
                Failure("overloaded", "full", True, 0.1, message.session, message.step)
            )
        return peer(frame)

    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        rig.extend([1, 2, 3, 4])
        Interrupted(rig, KeyboardInterrupt(), answered=False)
        with pytest.raises(KeyboardInterrupt):
            rig.extend([1, 2, 3, 4, 5])
        refusing.append(True)
        assert rig.extend([1, 2, 3, 4, 5, 6]) == truth([1, 2, 3, 4, 5, 6])
        assert rig.backend.sessions_opened == 1
        rig.close()
