"""Edits inside a prompt on the wire: what is refused, and how positions are named on both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_wire.client import ClientProtocol, ProtocolStateError, StepCompleted
from split_wire.codec import decode_client_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import (
    ContextOverflow,
    MalformedMessage,
    StartBeyondCache,
    TooManyRows,
    WrongShape,
)
from split_wire.messages import Opened, Result, Splice, Step
from split_wire.session import Run, SessionState, fingerprint
from split_wire.splice import MOST_SPANS, Kept, end_of, gaps, spans_field, spliced
from split_wire.tensor import Tensor, WireDtype

WIDTH, LIMIT = 4, 1 << 20
SPANS = (Kept(6, 5, 4), Kept(12, 10, 6))


def rows(count: int, seed: int = 0, dtype: WireDtype = "f32") -> Tensor:
    return Tensor.from_f32(floats(count, seed), dtype)


def floats(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)


def held(count: int = 20) -> PrefixChain:
    chain = PrefixChain("m")
    chain.replace(0, chain.following(0, rows(count)))
    return chain


@pytest.mark.parametrize(
    "spans",
    [
        None,
        [],
        {},
        [1, 2, 3],
        [[6, 5]],
        [[6, 5, 4, 1]],
        [[6, 5, 0]],
        [[6, 5, True]],
        [[6, 5, 4.0]],
        [[-1, 5, 4]],
        [[6, 5, 2**53]],
        [[3, 5, 4]],
        [[6, 3, 4]],
        [[6, 5, 4], [9, 10, 6]],
        [[6, 5, 4], [12, 8, 6]],
        [[12, 10, 6], [6, 5, 4]],
        [[6, 8, 4]],
        [[6 + 2 * i, 4 + i, 1] for i in range(MOST_SPANS + 1)],
    ],
)
def test_spans_that_are_not_sorted_disjoint_and_filled_up_are_refused(spans: Any) -> None:
    with pytest.raises(MalformedMessage):
        spans_field(spans, 4, 3)


def test_spans_may_touch_each_other_and_what_comes_before() -> None:
    value = [[4, 4, 2], [6, 6, 3], [9, 12, 1]]
    assert spans_field(value, 4, 3) == (Kept(4, 4, 2), Kept(6, 6, 3), Kept(9, 12, 1))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5)), min_size=1), st.integers(0, 4))
def test_the_gaps_and_the_spans_make_up_all_positions(
    pieces: list[tuple[int, int]], rest: int
) -> None:
    position, spans, total = 7, list[Kept](), rest
    for gap, count in pieces:
        spans.append(Kept(100 + position, position + gap, count))
        position, total = position + gap + count, total + gap
    assert end_of(7, spans, total) == position + rest
    parts = list(gaps(7, spans, total))
    assert [last - first for first, last in parts] == [*(gap for gap, _ in pieces), rest]
    assert [first for first, _ in parts[1:]] == [last for _, last in parts[:-1]]


def test_what_comes_before_the_first_span_is_named_as_ever_and_nothing_behind_it() -> None:
    chain, brought = held(), rows(3, seed=1)
    names = spliced(chain, 4, SPANS, brought)
    plain = held()
    plain.replace(4, plain.following(4, brought))
    assert len(names) == end_of(4, SPANS, 3) - 4 == 13
    assert names[0] == plain.at(5)
    assert len({*names, *(held().at(at) for at in range(21))}) == len(names) + 21
    assert len(chain) == 20


@pytest.mark.parametrize(
    "other",
    [
        lambda: spliced(held(), 4, (Kept(7, 5, 4), SPANS[1]), rows(3, seed=1)),
        lambda: spliced(held(), 4, (Kept(6, 5, 3), Kept(12, 9, 7)), rows(3, seed=1)),
        lambda: spliced(held(), 4, SPANS, rows(3, seed=2)),
        lambda: spliced(held(), 4, SPANS, rows(3, seed=1, dtype="bf16")),
        lambda: spliced(held(19), 4, (SPANS[0], Kept(12, 10, 6)), rows(4, seed=1)),
    ],
)
def test_another_splice_gives_other_names(other: Any) -> None:
    names = {*spliced(held(), 4, SPANS, rows(3, seed=1))[1:]}
    assert not names & {*other()[1:]}


def state(count: int = 20) -> SessionState:
    """A session that holds so many rows, the names of :func:`held`."""
    session = SessionState(PrefixChain("m"), WIDTH, 20, 40)
    step = Step("s", 1, 0, PrefixChain("m").at(0), rows(count))
    run = session.admit(step, b"first")
    assert isinstance(run, Run)
    session.complete(run, b"reply")
    return session


def splice(spans: tuple[Kept, ...] = SPANS, count: int = 3, start: int = 4) -> Splice:
    return Splice("s", 2, start, held().at(start), rows(count, seed=1), spans=spans)


def test_a_splice_is_read_as_it_was_written() -> None:
    data = encode_message(splice())
    assert decode_client_message(data, LIMIT) == splice()


def test_both_ends_name_what_is_held_alike() -> None:
    session, client = state(), client_that_holds()
    message = decode_client_message(client.splice(4, SPANS, floats(3, seed=1)), LIMIT)
    assert isinstance(message, Splice)
    run = session.admit(message, b"second")
    assert isinstance(run, Run)
    assert message.end == 17
    session.complete(run, b"reply")
    answer = Result("s", 2, 17, rows(1), prefix=run.prefix)
    event = client.receive(encode_message(answer))
    assert isinstance(event, StepCompleted)
    assert (session.cached, client.cached) == (17, 17)
    after = decode_client_message(client.step(17, floats(1)), LIMIT)
    assert isinstance(after, Step)
    assert isinstance(session.admit(after, b"third"), Run)


def test_steps_may_follow_before_a_splice_is_answered() -> None:
    session, client = state(), client_that_holds()
    frames = [client.splice(4, SPANS, floats(3, seed=1)), client.step(17, floats(2))]
    for frame in frames:
        message = decode_client_message(frame, LIMIT)
        assert isinstance(message, Step)
        run = session.admit(message, fingerprint(frame))
        assert isinstance(run, Run)
        session.complete(run, b"reply")
    assert client.unanswered == frames
    assert session.cached == client.reach == 19


def client_that_holds(count: int = 20) -> ClientProtocol:
    client = ClientProtocol(WIDTH, "m", cache="approximate")
    client.open()
    client.receive(encode_message(Opened("s", "m", "f32", 20, 36, capabilities=("splice",))))
    client.step(0, floats(count))
    client.receive(encode_message(Result("s", 1, count, rows(1))))
    return client


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (splice((Kept(6, 5, 15),), 3), StartBeyondCache),
        (splice((Kept(6, 5, 4), Kept(16, 10, 5)), 3), StartBeyondCache),
        (splice((Kept(6, 5, 14),), 20), None),
        (splice((Kept(6, 5, 14),), 21), TooManyRows),
        (splice((Kept(6, 25, 14),), 20, start=5), None),
        (splice((Kept(6, 5, 2**53 - 1),), 3), ContextOverflow),
        (splice(count=0), WrongShape),
    ],
)
def test_a_splice_that_does_not_fit_changes_nothing(message: Splice, error: Any) -> None:
    session = state()
    if error is None:
        assert isinstance(session.admit(message, b"second"), Run)
        return
    with pytest.raises(error):
        session.admit(message, b"second")
    assert (session.cached, session.busy) == (20, False)


def test_a_device_sends_none_that_would_be_refused() -> None:
    client = client_that_holds()
    with pytest.raises(ProtocolStateError, match="beyond"):
        client.splice(4, [Kept(6, 5, 15)], floats(3))
    with pytest.raises(MalformedMessage):
        client.splice(4, [Kept(6, 9, 4)], floats(3))
    with pytest.raises(ContextOverflow):
        client.splice(4, [Kept(6, 23, 14)], floats(20))
    assert client.unanswered == []


def test_a_device_moves_nothing_where_that_is_not_offered() -> None:
    client = ClientProtocol(WIDTH, "m")
    client.open()
    client.receive(encode_message(Opened("s", "m", "f32", 20, 40)))
    with pytest.raises(ProtocolStateError, match="splice"):
        client.splice(0, [Kept(0, 1, 1)], floats(1))
