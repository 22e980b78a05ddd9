"""How far a reply is off, what becomes of that, and when it is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from split_client.chat.verifying import (
    MOST_FAILURES,
    MOST_KL,
    Record,
    Verified,
    Verifier,
    compared,
)
from split_client.errors import ServerRefused


class Head:
    """Logits are the states themselves."""

    def logits_of_states(self, states: np.ndarray) -> np.ndarray:
        return states


@dataclass
class Session:
    """A sequence whose states are what it was made of."""

    states: Any
    asked: list[Any] = field(default_factory=list)
    closed: bool = False

    def cache(self, tokens: list[int], rows: int) -> Any:
        if self.states is None:
            raise ServerRefused("overloaded", "of the test", retryable=True)
        self.asked.append((tokens, rows))
        return self

    def close(self) -> None:
        self.closed = True


def states(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 30)).astype(np.float32)


def verifier(right: Session, record: Record | None = None, share: float = 0.0) -> Verifier:
    record = Record() if record is None else record
    return Verifier(Head(), lambda: right, record, share, draw=lambda: 0.5)  # type: ignore[arg-type,return-value]


def test_the_same_states_are_no_way_off() -> None:
    found = compared(Head(), states(40), states(40))  # type: ignore[arg-type]
    assert found == Verified(40, 0.0, 0.0, None)


def test_it_is_the_divergence_of_what_is_predicted_token_by_token() -> None:
    near, right = states(40), states(40)
    near[21] += states(1, seed=1)[0]
    near[37] = -near[37]
    one, other = (np.exp(part.astype(np.float64)) for part in (right, near))
    one, other = one / one.sum(1, keepdims=True), other / other.sum(1, keepdims=True)
    wanted = (one * np.log(one / other)).sum(1)
    found = compared(Head(), near, right)  # type: ignore[arg-type]
    assert found.kl == pytest.approx(wanted.mean(), rel=1e-6)
    assert found.largest == pytest.approx(wanted.max(), rel=1e-6)
    differ = np.flatnonzero(near.argmax(1) != right.argmax(1))
    assert found.first == differ[0]


def test_what_is_not_a_number_is_never_near() -> None:
    near = states(3)
    near[1] = math.nan
    assert not compared(Head(), near, states(3)).passed  # type: ignore[arg-type]


def test_both_sessions_are_asked_for_the_states_before_each_token_of_the_reply() -> None:
    near, right = Session(states(3)), Session(states(3))
    found = verifier(right).tried(near, [5, 6, 7, 8, 9, 10], 3)  # type: ignore[arg-type]
    assert found is not None
    assert near.asked == right.asked == [([5, 6, 7, 8, 9], 3)]
    assert right.closed
    assert not near.closed


def test_after_three_that_are_too_far_off_nothing_is_moved_any_more() -> None:
    record = Record()
    for number in range(MOST_FAILURES):
        assert not record.stopped("moved"), number
        record.take(Verified(1, 2 * MOST_KL, 1.0, 0), {"moved"})
        record.take(Verified(1, MOST_KL, 1.0, 0), {"moved", "documents"})
    assert record.stopped("moved")
    assert not record.stopped("documents")
    assert (record.passed, record.failed) == (MOST_FAILURES, MOST_FAILURES)


def test_a_server_that_cannot_be_asked_is_counted_and_costs_no_reply() -> None:
    record, apart = Record(), Session(None)
    assert verifier(apart, record).tried(Session(states(2)), [1, 2, 3], 1) is None  # type: ignore[arg-type]
    assert (record.unfinished, record.failed, record.stopped("moved")) == (1, 0, False)
    assert apart.closed


def test_each_reply_is_due_or_a_share_of_them() -> None:
    right = Session(None)
    assert verifier(right).due("full")
    assert not verifier(right, share=0.5).due("audit")
    assert verifier(right, share=0.51).due("audit")
