"""Several steps of a prefill under way: answers, losses, refusals, and what hostile servers say."""

from __future__ import annotations

from typing import Any

import pytest

from split_wire.client import (
    ClientProtocol,
    Ignored,
    ProtocolStateError,
    StepCompleted,
    StepFailed,
    StepReplaced,
)
from split_wire.errors import CacheFull, MalformedFrame, MalformedMessage, StepConflict
from split_wire.messages import Failure, Opened
from split_wire.under_way import MOST_STEPS
from tests.split_wire.client.speaking import give, ready, result, sent, values

OPENED = Opened("s1", "m", "f32", 3, 64)


def under_way(count: int) -> tuple[ClientProtocol, list[bytes]]:
    """Steps of two rows each."""
    client = ready(OPENED)
    return client, [client.step(2 * n, values(2, n + 1.0)) for n in range(count)]


def answer(step: int, **options: Any) -> Any:
    return result(step=step, cached=2 * step, **options)


def test_numbers_and_digests_of_the_next_steps_are_known_before_the_answers() -> None:
    client, frames = under_way(3)
    steps = [sent(frame) for frame in frames]
    assert [(step.step, step.start) for step in steps] == [(1, 0), (2, 2), (3, 4)]
    one_by_one = ready(OPENED)
    for number, frame in enumerate(frames):
        assert one_by_one.step(2 * number, values(2, number + 1.0)) == frame
        give(one_by_one, answer(number + 1))
    assert (client.cached, client.reach) == (0, 6)
    assert client.unanswered == frames


def test_answers_in_their_order_complete_the_steps() -> None:
    client, frames = under_way(3)
    for number in (1, 2, 3):
        event = give(client, answer(number))
        assert isinstance(event, StepCompleted)
        assert (event.unseen, client.cached) == (0, 2 * number)
        assert client.unanswered == frames[number:]
    assert sent(client.step(6, values(1))).step == 4


@pytest.mark.parametrize("start", [0, 2, 5, 7])
def test_a_further_step_begins_where_those_under_way_end(start: int) -> None:
    client, frames = under_way(3)
    with pytest.raises(ProtocolStateError):
        client.step(start, values(1))
    assert client.unanswered == frames


def test_no_more_steps_than_a_few_are_under_way() -> None:
    client, _ = under_way(MOST_STEPS)
    with pytest.raises(ProtocolStateError):
        client.step(client.reach, values(1))


def test_a_refusal_drops_the_steps_behind_it_whose_own_refusals_are_ignored() -> None:
    client, _ = under_way(3)
    event = give(client, Failure.of(CacheFull(2, 9, 0, 0), "s1", 1))
    assert isinstance(event, StepFailed)
    assert client.unanswered == []
    again = client.step(0, values(2, 1.0))
    for number in (2, 3):
        late = Failure.of(StepConflict(number, 1), "s1", number)
        assert give(client, late) == Ignored()
    assert client.unanswered == [again]
    assert isinstance(give(client, answer(1)), StepCompleted)


def test_a_step_that_a_later_one_has_replaced_counts_once_the_later_one_is_answered() -> None:
    client, frames = under_way(3)
    for number in (1, 2):
        conflict = Failure.of(StepConflict(number, 4), "s1", number)
        assert give(client, conflict) == StepReplaced()
        assert client.unanswered == frames[number:]
        assert client.cached == 0
    event = give(client, answer(3))
    assert isinstance(event, StepCompleted)
    assert (event.unseen, client.cached, client.unanswered) == (2, 6, [])
    assert sent(client.step(6, values(1))).step == 4


@pytest.mark.parametrize("error", [StepConflict(2, 9), CacheFull(2, 9, 0, 0)])
def test_a_replaced_step_is_lost_where_the_later_one_is_refused(error: Any) -> None:
    client, _ = under_way(2)
    give(client, Failure.of(StepConflict(1, 4), "s1", 1))
    event = give(client, Failure.of(error, "s1", 2))
    assert isinstance(event, StepFailed)
    assert event.failure.code == "step_conflict"
    assert (client.unanswered, client.cached) == ([], 0)


def test_a_single_step_with_a_conflict_is_lost() -> None:
    client, _ = under_way(1)
    event = give(client, Failure.of(StepConflict(1, 4), "s1", 1))
    assert isinstance(event, StepFailed)


def test_answers_in_another_order_are_refused_and_nothing_is_believed() -> None:
    client, frames = under_way(2)
    with pytest.raises(MalformedMessage, match="order"):
        give(client, answer(2))
    assert (client.cached, client.unanswered) == (0, frames)


def test_two_answers_for_one_step_count_once() -> None:
    client, frames = under_way(2)
    give(client, answer(1))
    assert give(client, answer(1)) == Ignored()
    assert client.unanswered == frames[1:]


def test_bytes_that_the_server_could_not_read_are_the_oldest_ones() -> None:
    client, _ = under_way(2)
    event = give(client, Failure.of(MalformedFrame("the magic is missing")))
    assert isinstance(event, StepFailed)
    assert client.unanswered == []


def test_an_untrue_answer_to_a_later_step_leaves_the_earlier_one_done() -> None:
    client, frames = under_way(2)
    give(client, answer(1))
    with pytest.raises(MalformedMessage):
        give(client, result(step=2, cached=5))
    assert (client.cached, client.unanswered) == (2, frames[1:])


def test_a_closed_session_has_nothing_under_way() -> None:
    client, _ = under_way(2)
    client.close()
    assert (client.unanswered, client.reach) == ([], 0)
