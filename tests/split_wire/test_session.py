from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from split_wire.codec import encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import (
    ContextOverflow,
    MalformedMessage,
    NonFinite,
    PrefixMismatch,
    SplitError,
    StartBeyondCache,
    StepConflict,
    TooManyRows,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.messages import Step
from split_wire.session import Replay, Run, SessionState, Underway, fingerprint
from split_wire.tensor import Tensor

WIDTH, MAX_ROWS, MAX_CONTEXT = 4, 3, 8
EMPTY = PrefixChain("m")


def state() -> SessionState:
    return SessionState(PrefixChain("m"), WIDTH, MAX_ROWS, MAX_CONTEXT)


def rows(count: int, value: float = 1.0, width: int = WIDTH) -> Tensor:
    return Tensor.from_f32(np.full((count, width), value, np.float32), "f32")


def step(number: int, start: int, tensor: Tensor, chain: PrefixChain = EMPTY) -> Step:
    return Step("s", number, start, chain.at(start), tensor)


def admit(session: SessionState, message: Step) -> Run | Replay | Underway:
    return session.admit(message, fingerprint(encode_message(message)))


def run(session: SessionState, message: Step, reply: bytes = b"reply") -> Run:
    admitted = admit(session, message)
    assert isinstance(admitted, Run)
    session.complete(admitted, reply)
    return admitted


def test_a_step_runs_and_its_rows_are_cached_when_it_completes() -> None:
    session = state()
    admitted = admit(session, step(1, 0, rows(2)))
    assert isinstance(admitted, Run)
    assert (session.busy, session.cached) == (True, 0)
    session.complete(admitted, b"reply")
    assert (session.busy, session.cached, session.reply_bytes) == (False, 2, 5)


def test_a_run_names_the_cache_that_it_leaves() -> None:
    admitted = admit(state(), step(1, 0, rows(2)))
    assert isinstance(admitted, Run)
    assert admitted.prefix == PrefixChain("m").following(0, rows(2))[-1]


def test_the_same_bytes_are_answered_from_memory() -> None:
    session, message = state(), step(1, 0, rows(2))
    run(session, message, b"first")
    for _ in range(3):
        assert admit(session, message) == Replay(b"first")
    assert session.cached == 2


def test_the_same_bytes_while_they_run_wait_for_that_run() -> None:
    session, message = state(), step(1, 0, rows(1))
    admitted = admit(session, message)
    assert isinstance(admitted, Run)
    assert admit(session, message) == Underway()
    session.complete(admitted, b"reply")
    assert admit(session, message) == Replay(b"reply")


@pytest.mark.parametrize("number", [0, 2, 3, 2**53 - 1])
def test_the_first_step_is_number_one(number: int) -> None:
    with pytest.raises(StepConflict, match="the next step is 1"):
        admit(state(), step(number, 0, rows(1)))


@pytest.mark.parametrize("number", [0, 1, 4])
def test_a_number_that_is_neither_the_next_nor_the_last_conflicts(number: int) -> None:
    session = state()
    run(session, step(1, 0, rows(1)))
    run(session, step(2, 0, rows(1)))
    with pytest.raises(StepConflict, match="the next step is 3"):
        admit(session, step(number, 0, rows(1)))


def test_the_last_number_with_other_bytes_conflicts_and_keeps_the_reply() -> None:
    session = state()
    run(session, step(1, 0, rows(1)), b"kept")
    with pytest.raises(StepConflict):
        admit(session, step(1, 0, rows(1, 2.0)))
    assert admit(session, step(1, 0, rows(1))) == Replay(b"kept")


def test_another_step_while_one_runs_conflicts_and_the_run_goes_on() -> None:
    session = state()
    admitted = admit(session, step(1, 0, rows(1)))
    assert isinstance(admitted, Run)
    for other in (step(1, 0, rows(1, 2.0)), step(2, 0, rows(1))):
        with pytest.raises(StepConflict):
            admit(session, other)
    session.complete(admitted, b"reply")
    assert session.cached == 1


def test_a_step_may_go_back_and_append_elsewhere() -> None:
    session, chain = state(), PrefixChain("m")
    chain.replace(0, run(session, step(1, 0, rows(3))).digests)
    edited = run(session, step(2, 1, rows(1, 5.0), chain))
    chain.replace(1, edited.digests)
    assert session.cached == 2
    run(session, step(3, 2, rows(1), chain))
    assert session.cached == 3


def test_a_start_beyond_the_cache_is_refused_with_both_numbers() -> None:
    session, chain = state(), PrefixChain("m")
    run(session, step(1, 0, rows(2)))
    chain.replace(0, chain.following(0, rows(3)))
    with pytest.raises(StartBeyondCache) as caught:
        admit(session, step(2, 3, rows(1), chain))
    assert (caught.value.start, caught.value.cached) == (3, 2)


def test_another_belief_about_the_cache_is_a_prefix_mismatch_and_changes_nothing() -> None:
    session, wrong = state(), PrefixChain("m")
    run(session, step(1, 0, rows(2)), b"kept")
    wrong.replace(0, wrong.following(0, rows(2, 9.0)))
    with pytest.raises(PrefixMismatch):
        admit(session, step(2, 2, rows(1), wrong))
    assert (session.cached, session.busy) == (2, False)
    assert admit(session, step(1, 0, rows(2))) == Replay(b"kept")
    run(session, step(2, 0, rows(1)))


def test_a_prefix_of_another_manifest_is_a_mismatch() -> None:
    with pytest.raises(PrefixMismatch):
        admit(state(), step(1, 0, rows(1), PrefixChain("another")))


@pytest.mark.parametrize(
    ("tensor", "error"),
    [
        (rows(1, width=WIDTH + 1), WrongHiddenSize),
        (Tensor("f32", (0, WIDTH), b""), WrongShape),
        (rows(MAX_ROWS + 1), TooManyRows),
        (Tensor("f32", (1, WIDTH), b"\xff" * 16), NonFinite),
        (Tensor("i8", (1, WIDTH), bytes(4), b"\0\0\x80\x7f"), NonFinite),
        (Tensor("i8", (1, WIDTH), bytes(4), bytes(4)), MalformedMessage),
        (Tensor("f16", (1, WIDTH), b"\0\x7c" * 4), NonFinite),
    ],
)
def test_rows_that_cannot_be_used_are_refused_and_nothing_changes(
    tensor: Tensor, error: type[SplitError]
) -> None:
    session = state()
    with pytest.raises(error):
        admit(session, step(1, 0, tensor))
    assert (session.cached, session.busy) == (0, False)
    run(session, step(1, 0, rows(1)))


def test_the_context_holds_its_last_position_and_not_one_more() -> None:
    session, chain = state(), PrefixChain("m")
    for number, start in ((1, 0), (2, 3)):
        chain.replace(start, run(session, step(number, start, rows(3), chain)).digests)
    with pytest.raises(ContextOverflow, match="9 positions"):
        admit(session, step(3, 6, rows(3), chain))
    run(session, step(3, 6, rows(2), chain))
    assert session.cached == MAX_CONTEXT


def test_a_failed_run_leaves_its_number_to_the_next_message() -> None:
    session, chain = state(), PrefixChain("m")
    chain.replace(0, run(session, step(1, 0, rows(3))).digests)
    failed = admit(session, step(2, 3, rows(1), chain))
    assert isinstance(failed, Run)
    session.fail(failed, cached=3)
    assert (session.cached, session.busy, session.reply_bytes) == (3, False, 0)
    run(session, step(2, 3, rows(1, 7.0), chain))
    assert session.cached == 4


def test_a_failed_run_that_had_truncated_the_cache_says_so() -> None:
    session, chain = state(), PrefixChain("m")
    chain.replace(0, run(session, step(1, 0, rows(3))).digests)
    failed = admit(session, step(2, 1, rows(1), chain))
    assert isinstance(failed, Run)
    session.fail(failed, cached=1)
    assert session.cached == 1
    with pytest.raises(StartBeyondCache):
        admit(session, step(2, 3, rows(1), chain))
    run(session, step(2, 1, rows(1), chain))


def test_after_a_failure_the_reply_before_it_is_gone() -> None:
    session = state()
    first = step(1, 0, rows(1))
    run(session, first)
    failed = admit(session, step(2, 0, rows(1)))
    assert isinstance(failed, Run)
    session.fail(failed, cached=0)
    with pytest.raises(StepConflict):
        admit(session, first)


def test_a_report_about_a_run_that_is_over_is_a_mistake_of_the_caller() -> None:
    session = state()
    admitted = run(session, step(1, 0, rows(1)))
    with pytest.raises(RuntimeError, match="not under way"):
        session.complete(admitted, b"again")
    with pytest.raises(RuntimeError, match="not under way"):
        session.fail(admitted, cached=0)
    assert session.cached == 1


def test_a_fingerprint_tells_any_two_frames_apart() -> None:
    message = step(1, 0, rows(1))
    frames = [encode_message(message), encode_message(replace(message, rows="all"))]
    assert fingerprint(frames[0]) == fingerprint(bytes(frames[0]))
    assert fingerprint(frames[0]) != fingerprint(frames[1])
