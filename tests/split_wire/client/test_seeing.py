"""What a device asks a server to hide, and what it believes of the answers."""

from __future__ import annotations

import numpy as np
import pytest

from split_wire.client import (
    ClientProtocol,
    Ignored,
    ProtocolStateError,
    SpansHidden,
    StepCompleted,
    StepFailed,
)
from split_wire.codec import decode_client_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import CacheFull, SpansRefused, Unsupported
from split_wire.hiding.seeing import Hidden, Hide, Show
from split_wire.hiding.spans import Spans
from split_wire.messages import Failure, Opened, Result
from split_wire.tensor import Tensor

WIDTH, LIMIT = 4, 1 << 20
SPANS: Spans = ((4, 10), (12, 20))
MESSAGE: Spans = ((22, 28),)


def rows(count: int) -> np.ndarray:
    return np.random.default_rng(count).normal(size=(count, WIDTH)).astype(np.float32)


def stepped(client: ClientProtocol, start: int, count: int) -> None:
    client.step(start, rows(count))
    number = client._next_step
    hidden = Tensor.from_f32(rows(1), "f32")
    event = client.receive(encode_message(Result("s1", number, start + count, hidden)))
    assert isinstance(event, StepCompleted)


@pytest.fixture
def client() -> ClientProtocol:
    made = ClientProtocol(WIDTH, "m")
    made.open()
    made.receive(encode_message(Opened("s1", "m", "f32", 100, 200, capabilities=("spans",))))
    stepped(made, 0, 30)
    return made


def chain(count: int) -> PrefixChain:
    made = PrefixChain("m")
    made.replace(0, made.following(0, Tensor.from_f32(rows(count), "f32")))
    return made


def answered(client: ClientProtocol, cached: int, spans: Spans) -> object:
    return client.receive(encode_message(Hidden("s1", cached, spans)))


def test_it_names_the_rows_that_it_believes_held(client: ClientProtocol) -> None:
    asked = decode_client_message(client.hide(SPANS, MESSAGE), LIMIT)
    assert asked == Hide("s1", 30, chain(30).at(30), SPANS, MESSAGE)
    assert client.hidden == ()
    assert answered(client, 30, SPANS) == SpansHidden(SPANS)
    asked = decode_client_message(client.show(((12, 14),)), LIMIT)
    assert asked == Show("s1", 30, chain(30).at(30), ((12, 14),))
    answered(client, 30, ((4, 10), (14, 20)))
    assert client.hidden == ((4, 10), (14, 20))


def test_a_step_that_cuts_the_cache_cuts_what_is_hidden(client: ClientProtocol) -> None:
    client.hide(SPANS, MESSAGE)
    answered(client, 30, SPANS)
    stepped(client, 15, 2)
    assert client.hidden == ((4, 10), (12, 15))
    client.open()
    assert client.hidden == ()


@pytest.mark.parametrize("wrong", [(30, ()), (30, ((4, 10),)), (29, SPANS)])
def test_an_answer_of_other_spans_is_none(client: ClientProtocol, wrong: tuple[int, Spans]) -> None:
    client.hide(SPANS, MESSAGE)
    assert answered(client, *wrong) == Ignored()
    assert client.outstanding is not None
    assert answered(client, 30, SPANS) == SpansHidden(SPANS)
    assert answered(client, 30, SPANS) == Ignored()


def test_a_refusal_leaves_what_was_hidden(client: ClientProtocol) -> None:
    client.hide(((4, 10),), MESSAGE)
    answered(client, 30, ((4, 10),))
    client.hide(SPANS, MESSAGE)
    event = client.receive(encode_message(Failure.of(CacheFull(30, 1, 0, 30))))
    assert isinstance(event, StepFailed)
    assert client.hidden == ((4, 10),)
    assert answered(client, 30, SPANS) == Ignored()
    stepped(client, 30, 1)


@pytest.mark.parametrize("spans", [(), ((3, 9),), ((21, 23),), ((28, 31),)])
def test_what_a_server_would_refuse_is_not_sent(client: ClientProtocol, spans: Spans) -> None:
    with pytest.raises(SpansRefused):
        client.hide(spans, MESSAGE)
    assert client.outstanding is None


def test_without_the_capability_nothing_is_sent() -> None:
    client = ClientProtocol(WIDTH, "m")
    client.open()
    client.receive(encode_message(Opened("s1", "m", "f32", 100, 200)))
    stepped(client, 0, 30)
    with pytest.raises(Unsupported):
        client.hide(SPANS, MESSAGE)


def test_one_message_is_outstanding_at_a_time(client: ClientProtocol) -> None:
    client.hide(SPANS, MESSAGE)
    with pytest.raises(ProtocolStateError):
        client.show(SPANS)
    with pytest.raises(ProtocolStateError):
        client.step(30, rows(1))


def test_behind_an_answer_that_never_came_all_is_shown_first(client: ClientProtocol) -> None:
    client.hide(SPANS, MESSAGE)
    client.give_up()
    assert not client.sure
    assert client.outstanding is None
    client.show(((0, 30),))
    # The late answer to what was given up.
    assert answered(client, 30, SPANS) == Ignored()
    assert answered(client, 30, ()) == SpansHidden(())
    assert client.sure
