from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_wire.client import (
    ClientProtocol,
    Ignored,
    ProtocolStateError,
    SessionOpened,
    StepCompleted,
    StepFailed,
)
from split_wire.codec import decode_client_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import (
    ContextOverflow,
    FrameTooLarge,
    MalformedFrame,
    MalformedMessage,
    ModelChanged,
    NonFinite,
    Overloaded,
    SplitError,
    StepConflict,
    TooManyRows,
    TooManySessions,
    UnknownSession,
    UnsupportedVersion,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.messages import Close, Closed, Failure, Message, Open, Opened, Pong, Result, Step
from split_wire.tensor import Tensor, WireDtype

WIDTH, LIMIT = 4, 1 << 20
OPENED = Opened("s1", "m", "f32", 3, 8)


def values(count: int, value: float = 1.0) -> NDArray[np.float32]:
    return np.full((count, WIDTH), value, np.float32)


def tensor(count: int, value: float = 0.5, dtype: WireDtype = "f32") -> Tensor:
    return Tensor.from_f32(values(count, value), dtype)


def ready(opened: Opened = OPENED) -> ClientProtocol:
    client = ClientProtocol(WIDTH, opened.manifest)
    client.open()
    assert isinstance(client.receive(encode_message(opened)), SessionOpened)
    return client


def result(step: int = 1, cached: int = 1, session: str = "s1", **options: Any) -> Result:
    options.setdefault("hidden", tensor(1))
    return Result(session, step, cached, **options)


def give(client: ClientProtocol, message: Message) -> object:
    return client.receive(encode_message(message))


def sent(frame: bytes) -> Step:
    message = decode_client_message(frame, LIMIT)
    assert isinstance(message, Step)
    return message


def test_open_asks_for_the_manifest_and_the_dtype() -> None:
    client = ClientProtocol(WIDTH, "m", "i8")
    assert decode_client_message(client.open(), LIMIT) == Open("m", "i8")


def test_a_session_opens_once() -> None:
    client = ClientProtocol(WIDTH, "m")
    client.open()
    assert give(client, OPENED) == SessionOpened(OPENED)
    assert (client.opened, client.outstanding, client.cached) == (OPENED, None, 0)
    assert give(client, replace(OPENED, session="s2")) == Ignored()
    assert client.opened == OPENED


def test_another_model_behind_the_address_is_model_changed() -> None:
    client = ClientProtocol(WIDTH, "m")
    client.open()
    with pytest.raises(ModelChanged):
        give(client, replace(OPENED, manifest="another"))
    assert client.opened is None


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"version": 2}, UnsupportedVersion),
        ({"max_rows": 0}, MalformedMessage),
        ({"max_context": 0}, MalformedMessage),
        ({"dtype": "f16"}, MalformedMessage),
    ],
)
def test_an_untrue_opening_is_refused(changes: dict[str, Any], error: type[SplitError]) -> None:
    client = ClientProtocol(WIDTH, "m", "f32")
    client.open()
    with pytest.raises(error):
        give(client, replace(OPENED, **changes))
    assert client.opened is None


def test_a_step_keeps_start_and_proves_it_with_the_digest() -> None:
    client = ready()
    first = sent(client.step(0, values(2)))
    assert (first.session, first.step, first.start, first.rows) == ("s1", 1, 0, "last")
    give(client, result(cached=2))
    second = sent(client.step(1, values(1, 3.0), rows="all"))
    chain = PrefixChain("m")
    chain.replace(0, chain.following(0, first.embeddings))
    assert (second.step, second.start, second.rows) == (2, 1, "all")
    assert second.prefix == chain.at(1)


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


def test_only_one_message_is_outstanding() -> None:
    client = ready()
    client.step(0, values(1))
    with pytest.raises(ProtocolStateError, match="under way"):
        client.step(0, values(1))


def test_a_step_needs_an_open_session() -> None:
    client = ClientProtocol(WIDTH, "m")
    with pytest.raises(ProtocolStateError, match="open session"):
        client.step(0, values(1))
    client.open()
    with pytest.raises(ProtocolStateError, match="open session"):
        client.step(0, values(1))


@pytest.mark.parametrize("start", [-1, 1])
def test_a_step_cannot_start_beyond_what_is_cached(start: int) -> None:
    client = ready()
    with pytest.raises(ProtocolStateError, match="cached positions"):
        client.step(start, values(1))


@pytest.mark.parametrize(
    ("embeddings", "error"),
    [
        (np.zeros((0, WIDTH), np.float32), WrongShape),
        (np.zeros(WIDTH, np.float32), WrongShape),
        (np.zeros((1, WIDTH + 1), np.float32), WrongHiddenSize),
        (np.zeros((4, WIDTH), np.float32), TooManyRows),
        (np.full((1, WIDTH), np.nan, np.float32), NonFinite),
    ],
)
def test_a_step_that_the_server_would_refuse_is_not_sent(
    embeddings: NDArray[np.float32], error: type[SplitError]
) -> None:
    client = ready()
    with pytest.raises(error):
        client.step(0, embeddings)
    assert client.outstanding is None
    assert sent(client.step(0, values(1))).step == 1


def test_a_step_beyond_the_context_is_not_sent() -> None:
    client = ready(replace(OPENED, max_context=2))
    client.step(0, values(2))
    give(client, result(cached=2))
    with pytest.raises(ContextOverflow, match="3 positions"):
        client.step(2, values(1))
    client.step(1, values(1))


def test_closing_forgets_the_session_and_names_it() -> None:
    client = ready()
    client.step(0, values(1))
    frame = client.close()
    assert frame is not None
    assert decode_client_message(frame, LIMIT) == Close("s1")
    assert (client.opened, client.outstanding, client.cached) == (None, None, 0)
    assert client.close() is None
    for late in (result(), Closed("s1"), Failure.of(UnknownSession(), "s1")):
        assert give(client, late) == Ignored()


def test_closing_may_ask_for_nothing_to_be_kept() -> None:
    frame = ready().close(keep=False)
    assert frame is not None
    assert decode_client_message(frame, LIMIT) == Close("s1", keep=False)


def test_a_new_session_starts_from_nothing() -> None:
    client = ready()
    client.step(0, values(1))
    give(client, result())
    client.open()
    give(client, replace(OPENED, session="s2"))
    step = sent(client.step(0, values(1)))
    assert (client.cached, step.session, step.step) == (0, "s2", 1)
    assert give(client, result()) == Ignored()
    assert isinstance(give(client, result(session="s2")), StepCompleted)


def test_a_reply_larger_than_the_session_allows_is_refused() -> None:
    client = ready()
    client.step(0, values(1))
    with pytest.raises(FrameTooLarge):
        client.receive(encode_message(result(hidden=Tensor("f32", (20_000, 1), bytes(80_000)))))


def test_what_is_outstanding_is_what_was_sent() -> None:
    client = ClientProtocol(WIDTH, "m")
    assert client.outstanding is None
    assert client.open() == client.outstanding
    give(client, OPENED)
    frame = client.step(0, values(1))
    assert frame == client.outstanding
