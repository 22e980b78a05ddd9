"""Servers that are full, refuse, lose sessions or say what is not true."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from split_client.errors import (
    AnswerInvalid,
    ModelBusy,
    ModelChanged,
    ModelLoading,
    ModelUnusable,
    ServerRefused,
    SessionUnstable,
)
from split_client.transport.channel import Loading, Reconnecting
from split_wire.codec import encode_message
from split_wire.messages import Failure, Opened, Pong, Result, Step
from split_wire.tensor import Tensor
from tests.split_client.servers import PeerAnswer, socket_server
from tests.split_client.transport.rigs import Rig, answering, refusing, truth
from tests.split_wire.peer import (
    WIDTH,
)


def test_a_full_server_is_asked_again_after_the_delay_it_names() -> None:
    _, answer = answering(refusing(2, Failure("overloaded", "full", True, 7.0)))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        assert rig.extend([1, 2]) == truth([1, 2])
        assert rig.now == pytest.approx(14.0)
        rig.close()


def test_a_server_that_stays_full_is_given_up() -> None:
    _, answer = answering(refusing(999, Failure("overloaded", "full", True, 7.0)))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(ServerRefused) as caught:
            rig.extend([1, 2])
        assert caught.value.code == "overloaded"
        assert rig.now <= 60
        rig.close()


def test_a_refusal_keeps_code_and_words_and_leaves_the_session_usable() -> None:
    _, answer = answering(refusing(1, Failure("cache_full", "no room", False)))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(ServerRefused, match="no room") as caught:
            rig.extend([1])
        assert caught.value.code == "cache_full"
        assert rig.extend([1]) == truth([1])
        rig.close()


def test_a_server_that_loses_every_session_is_given_up() -> None:
    _, answer = answering(refusing(999, Failure("unknown_session", "gone")))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(SessionUnstable):
            rig.extend([1])
        rig.close()


def test_another_model_behind_the_address_is_named() -> None:
    _, answer = answering(lambda message: Opened("s", "other", "f32", 3, 9))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(ModelChanged):
            rig.extend([1])
        rig.close()


def result(**changes: Any) -> Callable[[Any], Any]:
    """Answer steps with a result in which something is untrue."""

    def change(message: Any) -> Any:
        if not isinstance(message, Step):
            return None
        values = {
            "session": message.session,
            "step": message.step,
            "cached": message.start + message.embeddings.rows,
            "hidden": Tensor.from_f32(np.zeros((1, WIDTH), np.float32), "f32"),
        }
        return Result(**values | changes)

    return change


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"cached": 5}, "malformed_message"),
        ({"hidden": Tensor.from_f32(np.zeros((1, 3), np.float32), "f32")}, "wrong_hidden_size"),
        ({"hidden": Tensor.from_f32(np.zeros((2, 4), np.float32), "f32")}, "wrong_shape"),
        ({"hidden": Tensor("f32", (1, 4), b"\xff" * 16)}, "non_finite"),
        ({"step": 99}, "malformed_message"),
        ({"session": "another"}, "malformed_message"),
    ],
)
def test_an_untrue_answer_is_not_used(changes: dict[str, Any], code: str) -> None:
    _, answer = answering(result(**changes))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(AnswerInvalid) as caught:
            rig.extend([1])
        assert (caught.value.code, caught.value.cause_code) == ("answer_invalid", code)
        rig.close()


@pytest.mark.parametrize("garbage", [b"", b"SPL1", b"\x00" * 50, encode_message(Pong())])
def test_garbage_is_an_invalid_answer(garbage: bytes) -> None:
    with socket_server(lambda _: garbage) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(AnswerInvalid):
            rig.extend([1])
        rig.close()


def test_a_session_that_is_lost_soon_after_it_was_opened_is_not_opened_again_at_once(
    rig: Rig, peer: PeerAnswer
) -> None:
    rig.extend([1, 2])
    peer.peer.sessions.clear()
    before = rig.now
    assert rig.extend([1, 2, 3]) == truth([1, 2, 3])
    assert rig.now > before
    rig.now += 60
    peer.peer.sessions.clear()
    before = rig.now
    assert rig.extend([1, 2, 3, 4]) == truth([1, 2, 3, 4])
    assert rig.now == before


def test_a_client_waits_longer_for_a_session_than_for_a_queue(peer: PeerAnswer) -> None:
    def answer(_: bytes) -> bytes:
        return encode_message(Failure("too_many_sessions", "all are in use", True, 1.0))

    with socket_server(answer) as endpoint:
        rig = Rig(endpoint, busy_patience=20.0)
        with pytest.raises(ServerRefused):
            rig.backend.open()
        assert 90 < rig.now <= 100
        rig.close()


def test_a_model_that_is_being_loaded_is_waited_for_and_told() -> None:
    told: list[Reconnecting] = []
    _, answer = answering(refusing(3, Failure("model_loading", "it is being loaded", True, 30.0)))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        rig.channel._notify = told.append
        assert rig.extend([1, 2]) == truth([1, 2])
        assert rig.now == pytest.approx(15.0)
        rig.close()
    assert told == [Loading("it is being loaded", attempt, 30.0) for attempt in range(3)]


def test_a_model_that_is_not_loaded_in_ten_minutes_is_given_up() -> None:
    _, answer = answering(refusing(9999, Failure("model_loading", "being loaded", True, 30.0)))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(ModelLoading):
            rig.extend([1])
        assert rig.now == pytest.approx(600.0)
        rig.close()


def test_a_model_that_others_keep_out_of_the_memory_is_told_at_once_with_what_to_do() -> None:
    _, answer = answering(refusing(1, Failure("model_busy", "x holds it", True, 5.0)))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(ModelBusy, match="x holds it; try again when that one is idle"):
            rig.extend([1])
        assert rig.now == 0
        rig.close()


def test_a_model_that_the_server_cannot_load_is_told_at_once_with_what_to_do() -> None:
    _, answer = answering(refusing(1, Failure("model_unusable", "its log has why", False)))
    with socket_server(answer) as endpoint:
        rig = Rig(endpoint)
        with pytest.raises(ModelUnusable, match="its log has why; split-client models lists"):
            rig.extend([1])
        assert rig.now == 0
        rig.close()
