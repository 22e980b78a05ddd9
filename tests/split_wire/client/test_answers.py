"""What answers a client takes, for what they are, and which it passes over."""

from __future__ import annotations

import numpy as np
import pytest

from split_wire.client import (
    ClientProtocol,
    Ignored,
    SessionOpened,
    StepCompleted,
    StepFailed,
)
from split_wire.codec import encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import (
    FrameTooLarge,
    MalformedFrame,
    MalformedMessage,
    NonFinite,
    Overloaded,
    SplitError,
    StepConflict,
    TooManySessions,
    UnknownSession,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.messages import Closed, Failure, Message, Pong, Result
from split_wire.tensor import Tensor, WireDtype
from tests.split_wire.client.speaking import (
    OPENED,
    WIDTH,
    give,
    ready,
    result,
    sent,
    tensor,
    values,
)


def test_a_result_completes_the_step() -> None:
    client = ready()
    client.step(0, values(2))
    event = give(client, result(cached=2, compute_us=25, queue_us=3))
    assert isinstance(event, StepCompleted)
    assert event.hidden.tolist() == [[0.5] * WIDTH]
    assert (event.cached, event.compute_us, event.queue_us) == (2, 25, 3)
    assert (client.cached, client.outstanding) == (2, None)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "i8"])
def test_hidden_states_come_as_read_only_float32_from_any_dtype(dtype: WireDtype) -> None:
    client = ready()
    client.step(0, values(1))
    event = give(client, result(hidden=tensor(1, 0.5, dtype)))
    assert isinstance(event, StepCompleted)
    np.testing.assert_allclose(event.hidden, values(1, 0.5), rtol=1e-6)
    assert event.hidden.dtype == np.float32
    assert not event.hidden.flags.writeable


def test_all_rows_come_back_when_asked_for() -> None:
    client = ready()
    client.step(0, values(3), rows="all")
    event = give(client, result(cached=3, hidden=tensor(3)))
    assert isinstance(event, StepCompleted)
    assert event.hidden.shape == (3, WIDTH)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (result(hidden=Tensor("f32", (1, WIDTH + 1), bytes(20))), WrongHiddenSize),
        (result(hidden=tensor(2)), WrongShape),
        (result(hidden=Tensor("f32", (0, WIDTH), b"")), WrongShape),
        (result(hidden=Tensor("f32", (1, WIDTH), b"\xff" * 16)), NonFinite),
        (result(hidden=Tensor("i8", (1, WIDTH), b"\x80" * 4, b"\x01\0\x80\x7c")), NonFinite),
        (result(hidden=Tensor("i8", (1, WIDTH), bytes(4), bytes(4))), MalformedMessage),
        (result(cached=2), MalformedMessage),
        (result(cached=0), MalformedMessage),
    ],
)
def test_an_untrue_result_is_refused_and_nothing_changes(
    message: Result, error: type[SplitError]
) -> None:
    client = ready()
    frame = client.step(0, values(1))
    with pytest.raises(error):
        give(client, message)
    assert (client.cached, client.outstanding) == (0, frame)


@pytest.mark.parametrize(
    "message",
    [
        result(step=2),
        result(step=0),
        result(session="another"),
        result(prefix=b"\x01" * 16),
        Closed("s1"),
        Pong(),
        OPENED,
        Failure.of(StepConflict(0, 1), "s1", 0),
        Failure.of(StepConflict(7, 8), None, 7),
        Failure.of(UnknownSession(), "another", 1),
        Failure.of(UnknownSession(), "another"),
    ],
)
def test_an_answer_to_something_else_leaves_the_step_outstanding(message: Message) -> None:
    client = ready()
    frame = client.step(0, values(1))
    assert give(client, message) == Ignored()
    assert client.outstanding == frame
    assert isinstance(give(client, result()), StepCompleted)


def test_a_result_that_names_the_cache_is_taken() -> None:
    client = ready()
    step = sent(client.step(0, values(2)))
    prefix = PrefixChain("m").following(0, step.embeddings)[-1]
    assert isinstance(give(client, result(cached=2, prefix=prefix)), StepCompleted)


def test_the_answer_to_a_failed_step_is_not_taken_for_the_step_that_uses_its_number() -> None:
    client = ready()
    first = sent(client.step(0, values(1, 1.0)))
    give(client, Failure.of(Overloaded("busy"), "s1", 1))
    client.step(0, values(1, 2.0))
    late = PrefixChain("m").following(0, first.embeddings)[-1]
    assert give(client, result(prefix=late)) == Ignored()
    assert client.cached == 0


@pytest.mark.parametrize("session", ["s1", None])
@pytest.mark.parametrize("step", [1, None])
def test_a_failure_of_the_outstanding_step_ends_it(session: str | None, step: int | None) -> None:
    client = ready()
    client.step(0, values(1))
    failure = Failure.of(Overloaded("busy"), session, step)
    assert give(client, failure) == StepFailed(failure)
    assert (client.outstanding, client.cached) == (None, 0)
    assert sent(client.step(0, values(1))).step == 1


@pytest.mark.parametrize("error", [MalformedFrame("cut"), FrameTooLarge(9, 4)])
def test_bytes_that_the_server_could_not_read_end_the_step(error: SplitError) -> None:
    client = ready()
    client.step(0, values(1))
    give(client, result())
    client.step(1, values(1))
    assert isinstance(give(client, Failure.of(error)), StepFailed)
    assert client.cached == 1


def test_a_failure_ends_an_open() -> None:
    client = ClientProtocol(WIDTH, "m")
    client.open()
    failure = Failure.of(TooManySessions(4))
    assert give(client, failure) == StepFailed(failure)
    assert (client.outstanding, client.opened) == (None, None)
    client.open()
    assert isinstance(give(client, OPENED), SessionOpened)


@pytest.mark.parametrize(("session", "step"), [("s1", None), ("s1", 1), (None, 1)])
def test_a_late_failure_of_a_step_does_not_end_an_open(
    session: str | None, step: int | None
) -> None:
    client = ready()
    client.step(0, values(1))
    frame = client.open()
    assert give(client, Failure.of(UnknownSession(), session, step)) == Ignored()
    assert client.outstanding == frame


def test_a_failure_while_nothing_is_outstanding_is_ignored() -> None:
    client = ready()
    for failure in (Failure.of(Overloaded("busy")), Failure.of(Overloaded("busy"), "s1", 1)):
        assert give(client, failure) == Ignored()
    assert give(client, result()) == Ignored()
    assert client.opened == OPENED


def test_a_result_that_arrives_twice_counts_once() -> None:
    client = ready()
    client.step(0, values(1))
    give(client, result())
    assert give(client, result()) == Ignored()
    client.step(1, values(1))
    assert give(client, result()) == Ignored()
    assert client.cached == 1


def test_a_reply_larger_than_the_session_allows_is_refused() -> None:
    client = ready()
    client.step(0, values(1))
    with pytest.raises(FrameTooLarge):
        client.receive(encode_message(result(hidden=Tensor("f32", (20_000, 1), bytes(80_000)))))
