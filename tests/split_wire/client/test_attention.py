"""The device's side of a session that asks for attention, against real session states."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from scripts.bench.hostile.mutations import mutated_frame
from split_wire.attention import AttentionRequest
from split_wire.client import ClientProtocol, Ignored, SessionOpened, StepCompleted, StepFailed
from split_wire.codec import decode_client_message, decode_server_message, encode_message
from split_wire.errors import (
    AttentionTooLarge,
    FrameTooLarge,
    MalformedMessage,
    SplitError,
    Unsupported,
)
from split_wire.messages import Opened, Result, Step
from tests.split_wire.peer import HEADS, LAYERS, WIDTH, Peer, attention_of

ALL = AttentionRequest()
TOP = AttentionRequest("mean", 2, "f16")
NARROW = [
    AttentionRequest(layers=(1, 5), dtype="f16"),
    AttentionRequest("mean", 2, layers=(0, 63)),
    AttentionRequest(reduce="mean"),
    AttentionRequest(reduce="max", top_k=2, dtype="f16"),
    AttentionRequest("mean", reduce="max", layers=(2, 3, 9)),
]
ROWS = np.arange(3 * WIDTH, dtype=np.float32).reshape(3, WIDTH)


def opened(peer: Peer) -> ClientProtocol:
    device = ClientProtocol(WIDTH, "m")
    assert isinstance(device.receive(peer.receive(device.open())[0]), SessionOpened)
    return device


def answer(peer: Peer, frame: bytes) -> bytes:
    assert peer.receive(frame) == []
    (reply,) = peer.finish("s1")
    return reply


def lied_about(reply: bytes, **changes: object) -> bytes:
    message = decode_server_message(reply, 1 << 20)
    assert isinstance(message, Result)
    return encode_message(replace(message, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "request_", [ALL, TOP, AttentionRequest("max"), AttentionRequest(top_k=1), *NARROW]
)
def test_a_step_brings_the_attention_that_it_asks_for(request_: AttentionRequest) -> None:
    peer = Peer("s")
    device = opened(peer)
    event = device.receive(answer(peer, device.step(0, ROWS, attention=request_)))
    assert isinstance(event, StepCompleted)
    assert event.attention is not None
    wanted = attention_of([row.tobytes() for row in ROWS], request_)
    assert np.array_equal(
        event.attention.values.reshape(wanted.values.shape), wanted.values.to_f32()
    )
    if wanted.positions is not None:
        assert event.attention.positions is not None
        assert (
            event.attention.positions.ravel().tolist() == wanted.positions.array().ravel().tolist()
        )


@pytest.mark.parametrize("request_", NARROW)
def test_the_device_reduces_what_an_older_server_cannot(request_: AttentionRequest) -> None:
    peer = Peer("s")
    peer.names_layers = False
    device = opened(peer)
    frame = device.step(0, ROWS, attention=request_)
    sent = decode_client_message(frame, 1 << 20)
    assert isinstance(sent, Step)
    assert sent.attention is not None
    assert not sent.attention.names_layers
    event = device.receive(answer(peer, frame))
    assert isinstance(event, StepCompleted)
    assert event.attention is not None
    wanted = attention_of([row.tobytes() for row in ROWS], request_)
    shape = (wanted.layers, wanted.heads, wanted.values.shape[1])
    assert event.attention.values.shape == shape
    told = event.attention.values.reshape(wanted.values.shape)
    np.testing.assert_allclose(told, wanted.values.to_f32(), atol=5e-4)
    assert (event.attention.positions is None) == (wanted.positions is None)
    assert not event.attention.values.flags.writeable


def test_a_layer_that_the_model_does_not_have_is_not_asked_for() -> None:
    device = opened(Peer("s"))
    with pytest.raises(MalformedMessage, match="64 layers"):
        device.step(0, ROWS, attention=AttentionRequest(layers=(0, 64)))
    assert device.outstanding is None


def test_a_step_that_asks_for_none_brings_none_and_looks_at_none() -> None:
    peer = Peer("s")
    device = opened(peer)
    reply = answer(peer, device.step(0, ROWS))
    unasked = lied_about(reply, attention=attention_of([b"x"], TOP))
    event = device.receive(unasked)
    assert isinstance(event, StepCompleted)
    assert event.attention is None


def test_the_same_step_with_other_attention_is_another_message() -> None:
    peer = Peer("s")
    device = opened(peer)
    frame = device.step(0, ROWS, attention=ALL)
    step = decode_client_message(frame, 1 << 20)
    assert isinstance(step, Step)
    reply = answer(peer, frame)
    assert peer.receive(frame) == [reply]
    assert peer.sessions["s1"].state.reply_bytes == len(reply)
    refusal = device.receive(peer.receive(encode_message(replace(step, attention=TOP)))[0])
    assert isinstance(refusal, StepFailed)
    assert refusal.failure.code == "step_conflict"


@pytest.mark.parametrize(
    "changes", [{"capabilities": ()}, {"layers": 0}, {"heads": 0}, {"capabilities": ("other",)}]
)
def test_a_server_that_does_not_offer_attention_is_not_asked(changes: dict[str, object]) -> None:
    offered = Opened("s1", "m", "f32", 3, 8, 1, ("attention",), LAYERS, HEADS)
    device = ClientProtocol(WIDTH, "m")
    device.open()
    device.receive(encode_message(replace(offered, **changes)))  # type: ignore[arg-type]
    with pytest.raises(Unsupported):
        device.step(0, ROWS, attention=ALL)
    assert device.outstanding is None
    device.step(0, ROWS)


def test_attention_beyond_the_limit_is_not_asked_for() -> None:
    device = ClientProtocol(WIDTH, "m")
    device.open()
    device.receive(encode_message(Opened("s1", "m", "f32", 64, 99, 1, ("attention",), 1024, 1024)))
    with pytest.raises(AttentionTooLarge):
        device.step(0, np.ones((16, WIDTH), np.float32), attention=ALL)
    assert device.outstanding is None


def test_an_answer_longer_than_its_attention_may_be_is_not_parsed() -> None:
    peer = Peer("s")
    device = opened(peer)
    reply = answer(peer, device.step(0, ROWS, attention=TOP))
    cache = [bytes([i]) for i in range(12)]
    with pytest.raises(FrameTooLarge):
        device.receive(lied_about(reply, attention=attention_of(cache, ALL)))
    assert isinstance(device.receive(reply), StepCompleted)


def test_an_answer_without_the_attention_that_was_asked_for_changes_nothing() -> None:
    peer = Peer("s")
    device = opened(peer)
    reply = answer(peer, device.step(0, ROWS, attention=TOP))
    with pytest.raises(MalformedMessage):
        device.receive(lied_about(reply, attention=None))
    assert device.cached == 0
    assert isinstance(device.receive(reply), StepCompleted)


@pytest.mark.parametrize("request_", [ALL, TOP, AttentionRequest(top_k=2)])
def test_damaged_answers_are_refused_or_hold_sound_attention(request_: AttentionRequest) -> None:
    rng = random.Random(7)  # noqa: S311
    peer = Peer("s")
    device = opened(peer)
    reply = answer(peer, device.step(0, ROWS[:1], attention=request_))
    taken = 0
    for _ in range(400):
        damaged = mutated_frame(rng, reply)
        try:
            event = device.receive(damaged)
        except SplitError:
            continue
        if isinstance(event, Ignored | StepFailed):
            continue
        assert isinstance(event, StepCompleted)
        weights = event.attention
        assert weights is not None
        assert weights.values.shape == (LAYERS, request_.rows_of(HEADS), 1)
        assert bool(((weights.values >= 0) & (weights.values <= 1.001)).all())
        taken += 1
        peer = Peer("s")
        device = opened(peer)
        reply = answer(peer, device.step(0, ROWS[:1], attention=request_))
    assert taken < 400
