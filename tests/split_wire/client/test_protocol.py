"""Which messages a client may send when, and what each of them proves."""

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
)
from split_wire.codec import decode_client_message
from split_wire.digest import PrefixChain
from split_wire.errors import (
    ContextOverflow,
    MalformedMessage,
    ModelChanged,
    NonFinite,
    SplitError,
    TooManyRows,
    UnknownSession,
    UnsupportedVersion,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.messages import Close, Closed, Failure, Open
from tests.split_wire.client.speaking import LIMIT, OPENED, WIDTH, give, ready, result, sent, values


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


def test_what_is_outstanding_is_what_was_sent() -> None:
    client = ClientProtocol(WIDTH, "m")
    assert client.outstanding is None
    assert client.open() == client.outstanding
    give(client, OPENED)
    frame = client.step(0, values(1))
    assert frame == client.outstanding
