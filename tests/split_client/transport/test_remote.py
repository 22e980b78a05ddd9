from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from split_client.errors import (
    AnswerInvalid,
    ConnectionLost,
    ModelChanged,
    ServerRefused,
    SessionUnstable,
)
from split_client.generation.backend import CacheLost
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.remote import RemoteBackend
from split_wire.attention import AttentionRequest
from split_wire.codec import decode_client_message, encode_message
from split_wire.messages import Failure, Opened, Pong, Result, Step
from split_wire.tensor import Tensor
from tests.patience import until
from tests.proxies import CuttingProxy
from tests.split_client.servers import PeerAnswer, http_server, posting, socket_server
from tests.split_wire.peer import (
    HEADS,
    LAYERS,
    LIMIT,
    MAX_CONTEXT,
    MAX_ROWS,
    WIDTH,
    answer_of,
    attention_of,
)

Wrap = Callable[[bytes, bytes], bytes]


def rows(tokens: list[int]) -> np.ndarray:
    """Every token has a row of its own."""
    return np.repeat(np.asarray(tokens, np.float32)[:, None], WIDTH, axis=1)


def truth(tokens: list[int]) -> list[float]:
    """What the peer's model answers when it has cached exactly ``tokens``."""
    return list(answer_of([row.tobytes() for row in rows(tokens)])[0])


class Rig:
    """A backend and a sequence over a real socket to ``answer``."""

    def __init__(self, endpoint: Any, **options: Any) -> None:
        self.now = 0.0
        self.channel = Channel(connector(endpoint, None, LIMIT), pause=self.pause)
        self.backend = RemoteBackend(
            self.channel, WIDTH, "m", 100, pause=self.pause, clock=lambda: self.now, **options
        )
        self.sequence = Sequence(self.backend, rows)

    def pause(self, seconds: float) -> None:
        self.now += seconds

    def extend(self, tokens: list[int]) -> list[float]:
        return list(self.sequence.extend(tokens).hidden)

    def close(self) -> None:
        self.sequence.close()
        self.channel.close()


@pytest.fixture
def peer() -> PeerAnswer:
    return PeerAnswer()


@pytest.fixture
def rig(peer: PeerAnswer) -> Iterator[Rig]:
    with socket_server(peer) as endpoint:
        rig = Rig(endpoint)
        yield rig
        rig.close()


def test_limits_are_the_smaller_of_server_and_manifest(rig: Rig) -> None:
    rig.backend.open()
    assert (rig.backend.max_rows, rig.backend.max_context) == (MAX_ROWS, MAX_CONTEXT)
    assert rig.backend.dtype == "f32"


def test_prefill_decode_rollback_and_edit_hold_exactly_the_tokens_given(rig: Rig) -> None:
    for tokens in ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], [1, 2, 9], [7], [7, 8, 1, 2, 3, 4, 5, 6]):
        assert rig.extend(tokens) == truth(tokens)
    assert rig.backend.sessions_opened == 1


def attended(rig: Rig, tokens: list[int], request: AttentionRequest) -> bool:
    """Extends to ``tokens``; whether the attention is the peer's own."""
    taken = rig.sequence.extend(tokens, request).attention
    wanted = attention_of([row.tobytes() for row in rows(tokens)], request)
    assert taken is not None
    return np.array_equal(taken.values.reshape(wanted.values.shape), wanted.values.to_f32())


def test_attention_comes_with_the_last_step_alone(rig: Rig, peer: PeerAnswer) -> None:
    everything = AttentionRequest()
    assert attended(rig, [1, 2, 3, 4, 5], everything)
    steps = [decode_client_message(frame, LIMIT) for frame in peer.frames[-2:]]
    assert [getattr(step, "attention", ...) for step in steps] == [None, everything]
    assert rig.sequence.extend([1, 2, 3, 4, 5, 6]).attention is None
    assert attended(rig, [1, 2, 3, 4, 5, 6, 7], AttentionRequest("max", 3, "f16"))


@pytest.mark.parametrize("kind", ["websocket", "http"])
def test_attention_may_be_longer_than_any_other_answer(kind: str, peer: PeerAnswer) -> None:
    tokens = list(range(MAX_CONTEXT))
    assert 4 * LAYERS * HEADS * MAX_CONTEXT > LIMIT
    server = socket_server(peer) if kind == "websocket" else http_server(post=posting(peer))
    with server as endpoint:
        rig = Rig(endpoint)
        assert rig.extend(tokens[:8]) == truth(tokens[:8])
        assert attended(rig, tokens, AttentionRequest())
        assert rig.channel.transport_name == kind
        rig.close()


def test_attention_that_is_cut_off_comes_again_over_a_new_connection(peer: PeerAnswer) -> None:
    tokens = list(range(MAX_CONTEXT))
    with (
        http_server(post=posting(peer)) as endpoint,
        CuttingProxy(endpoint.port) as proxy,
    ):
        rig = Rig(_endpoint(proxy))
        rig.extend(tokens[:-1])
        proxy.cut_after(5000)
        assert attended(rig, tokens, AttentionRequest())
        rig.close()
    assert proxy.cuts == 1
    assert set(peer.peer.runs.values()) == {1}


def test_a_server_without_attention_is_told_from_one_that_lost_the_cache(
    rig: Rig, peer: PeerAnswer
) -> None:
    peer.peer.attention = False
    with pytest.raises(ServerRefused) as refused:
        rig.sequence.extend([1, 2], AttentionRequest())
    assert refused.value.code == "unsupported"
    assert len(peer.frames) == 1
    assert rig.extend([1, 2]) == truth([1, 2])


def test_nothing_is_appended_twice_when_answers_are_cut(peer: PeerAnswer) -> None:
    with (
        http_server(post=posting(peer)) as endpoint,
        CuttingProxy(endpoint.port) as proxy,
    ):
        rig = Rig(_endpoint(proxy))
        tokens = [1]
        for token in range(2, 11):
            proxy.cut_after(30)
            assert rig.extend(list(tokens)) == truth(tokens)
            tokens.append(token)
        rig.close()
    assert proxy.cuts >= 9
    assert set(peer.peer.runs.values()) == {1}
    assert rig.backend.sessions_opened == 1


def _endpoint(proxy: CuttingProxy) -> Any:
    from split_client.transport.endpoint import Endpoint

    return Endpoint.parse(proxy.url)


def test_a_session_that_the_server_dropped_is_opened_again_and_filled(
    rig: Rig, peer: PeerAnswer
) -> None:
    rig.extend([1, 2, 3])
    peer.peer.sessions.clear()
    assert rig.extend([1, 2, 3, 4]) == truth([1, 2, 3, 4])
    assert (rig.backend.sessions_opened, rig.sequence.counters.resends) == (2, 1)


def test_a_session_that_somebody_else_rewrote_is_never_continued(
    rig: Rig, peer: PeerAnswer
) -> None:
    rig.extend([1, 2, 3])
    [held] = peer.peer.sessions.values()
    held.state._chain.truncate(1)
    assert rig.extend([1, 2, 3, 4]) == truth([1, 2, 3, 4])
    assert rig.sequence.counters.resends == 1


def answering(change: Callable[[Any], Any]) -> tuple[PeerAnswer, Callable[[bytes], bytes]]:
    """A peer whose steps ``change`` answers, where that returns something."""
    peer = PeerAnswer()

    def answer(frame: bytes) -> bytes:
        message = decode_client_message(frame, LIMIT)
        changed = change(message)
        return peer(frame) if changed is None else encode_message(changed)

    return peer, answer


def refusing(times: int, failure: Failure) -> Callable[[Any], Any]:
    left = [times]

    def change(message: Any) -> Any:
        if isinstance(message, Step) and left[0]:
            left[0] -= 1
            return failure
        return None

    return change


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


def test_a_step_beyond_the_cache_is_told_to_begin_anew(rig: Rig) -> None:
    with pytest.raises(CacheLost):
        rig.backend.step(3, rows([1]))


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


def test_closing_ends_the_session_on_the_server(rig: Rig, peer: PeerAnswer) -> None:
    rig.extend([1])
    assert len(peer.peer.sessions) == 1
    rig.sequence.close()
    # Leaving does not wait for the answer.
    until(lambda: peer.peer.sessions == {})


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
