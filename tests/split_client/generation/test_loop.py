from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.generation.constraint import Constraint, NothingAhead
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.loop import Event, Finished, Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_wire.attention import AttentionRequest
from tests.split_client.generation.test_sequence import AttentiveBackend, ListBackend

VOCAB = 8
EOS = 7


class Letters:
    """Token i is the i-th letter."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return "".join("abcdefg\ufffd"[i] for i in ids if i != EOS)


class CountingBackend(ListBackend):
    """The state after token t is the unit vector of token t + 1."""

    def step(self, *args: Any, **options: Any) -> Any:
        output = super().step(*args, **options)
        return replace(output, hidden=counted(self.cached, len(output.hidden)))


def counted(cached: list[int], rows: int) -> NDArray[np.float32]:
    """The states after each of the last ``rows`` tokens."""
    hidden = np.zeros((rows, VOCAB), np.float32)
    for state, token in zip(hidden, cached[-rows:], strict=True):
        state[(token + 1) % VOCAB] = 1
    return hidden


@pytest.fixture
def head(tmp_path: Path) -> ExactLMHead:
    path = tmp_path / "head.bin"
    np.eye(VOCAB, dtype="<f4").tofile(path)
    return ExactLMHead(WeightRows.open(path, "f32", VOCAB, VOCAB), HeadSpec())


def run(
    head: ExactLMHead,
    prompt: list[int],
    max_tokens: int = 100,
    stops: tuple[str, ...] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> list[Event]:
    ticks = iter(range(100_000))
    sequence = Sequence(
        CountingBackend(),  # type: ignore[arg-type]
        lambda ids: np.asarray(ids, np.float32)[:, None],
    )
    limits = Limits(frozenset({EOS}), max_tokens, stops)
    sampler = Sampler(head, SamplingParams())
    return list(
        decode(
            sequence,
            sampler,
            Letters(),
            prompt,
            limits,
            cancelled=cancelled,
            clock=lambda: 10.0 * next(ticks),
        )
    )


def tokens(events: list[Event]) -> list[int]:
    return [event.token for event in events if isinstance(event, TokenEvent)]


def text(events: list[Event]) -> str:
    return "".join(event.text for event in events)


def reason(events: list[Event]) -> str:
    assert [isinstance(event, Finished) for event in events] == [False] * (len(events) - 1) + [True]
    last = events[-1]
    assert isinstance(last, Finished)
    return last.reason


def test_a_reply_ends_with_the_end_token_which_has_no_text(head: ExactLMHead) -> None:
    events = run(head, [0, 1, 2])
    assert tokens(events) == [3, 4, 5, 6, EOS]
    assert (text(events), reason(events)) == ("defg", "eos")


def test_a_reply_ends_at_the_most_tokens_allowed(head: ExactLMHead) -> None:
    events = run(head, [0], max_tokens=2)
    assert (tokens(events), reason(events)) == ([1, 2], "length")


def test_a_reply_ends_before_a_stop_string(head: ExactLMHead) -> None:
    events = run(head, [0], stops=("ef",))
    assert tokens(events) == [1, 2, 3, 4, 5]
    assert (text(events), reason(events)) == ("bcd", "stop")


def test_text_held_back_for_a_stop_string_comes_with_the_end(head: ExactLMHead) -> None:
    events = run(head, [0], max_tokens=3, stops=("cdz",))
    assert text(events) == "bcd"
    assert events[-1].text == "cd"


def test_a_reply_ends_when_the_context_is_full(head: ExactLMHead) -> None:
    # Every position of the context is used, and the last state still gives a token.
    events = run(head, [0] * 15)
    assert reason(events) == "context" if len(tokens(events)) == 6 else "eos"
    long = run(head, [0] * 18)
    assert (tokens(long), reason(long)) == ([1, 2, 3], "context")


def test_a_reply_ends_on_request_after_the_token_at_hand(head: ExactLMHead) -> None:
    asked = iter([False, False, False, True])
    events = run(head, [0], cancelled=lambda: next(asked))
    assert (tokens(events), reason(events)) == ([1, 2, 3], "cancelled")


def test_a_reply_that_was_stopped_before_it_began_has_no_token(head: ExactLMHead) -> None:
    events = run(head, [0], cancelled=lambda: True)
    assert (tokens(events), text(events), reason(events)) == ([], "", "cancelled")


def test_rows_and_times_are_told_for_every_token(head: ExactLMHead) -> None:
    events = run(head, [0, 1, 2, 3, 4, 5])
    first, second = events[0], events[1]
    assert isinstance(first, TokenEvent)
    assert isinstance(second, TokenEvent)
    assert (first.rows, second.rows) == (6, 1)
    for timing in (first.timing, second.timing):
        parts = timing.device + timing.engine + timing.queue + timing.wire
        assert parts == pytest.approx(timing.total)
    assert first.timing.engine == pytest.approx(60e-6)
    assert first.timing.wire == pytest.approx(2 - 80e-6)
    assert first.probability == 1.0


class AttentiveCounting(AttentiveBackend):
    """Counts like CountingBackend."""

    def step(self, *args: Any, **options: Any) -> Any:
        output = super().step(*args, **options)
        return replace(output, hidden=counted(self.cached, len(output.hidden)))


def test_a_token_brings_the_attention_that_it_was_chosen_from(head: ExactLMHead) -> None:
    sequence = Sequence(
        AttentiveCounting(),  # type: ignore[arg-type]
        lambda ids: np.asarray(ids, np.float32)[:, None],
    )
    sampler, limits = Sampler(head, SamplingParams()), Limits(frozenset({EOS}), 3)
    asked = AttentionRequest()
    events = list(decode(sequence, sampler, Letters(), [0, 1], limits, attention=asked))
    widths = [
        e.attention.values.shape[-1] for e in events if isinstance(e, TokenEvent) and e.attention
    ]
    assert widths == [2, 3, 4]


def test_a_token_brings_no_attention_unless_it_is_asked_for(head: ExactLMHead) -> None:
    events = [event for event in run(head, [0, 1]) if isinstance(event, TokenEvent)]
    assert [event.attention for event in events] == [None] * len(events)
    assert events


class Alternating(NothingAhead):
    """Allows even tokens, then odd ones, and so on, and is finished after ``most``."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.accepted = list[int]()
        self.remaining = list[int]()

    def allowed(self, remaining: int) -> np.ndarray:
        self.remaining.append(remaining)
        return np.arange(VOCAB) % 2 == len(self.accepted) % 2

    def accept(self, token: int) -> None:
        self.accepted.append(token)

    @property
    def finished(self) -> bool:
        return len(self.accepted) >= self.most


def steered(
    head: ExactLMHead, constraint: Constraint | None, prompt: int = 1, **options: Any
) -> list[Event]:
    sequence = Sequence(
        CountingBackend(),  # type: ignore[arg-type]
        lambda ids: np.asarray(ids, np.float32)[:, None],
    )
    limits = Limits(frozenset({EOS}), options.pop("max_tokens", 10))
    sampler = Sampler(head, SamplingParams())
    ids = [0] * prompt
    return list(decode(sequence, sampler, Letters(), ids, limits, constraint=constraint, **options))


def test_a_constraint_steers_every_choice_and_ends_the_reply(head: ExactLMHead) -> None:
    constraint = Alternating(4)
    events = steered(head, constraint)
    # After 0 comes 1, which is odd: of the even ones, equally likely, the first is taken.
    assert tokens(events) == constraint.accepted == [0, 1, 2, 3]
    assert reason(events) == "stop"
    assert constraint.remaining == [10, 9, 8, 7]


def test_a_constraint_is_told_how_many_tokens_the_context_leaves(head: ExactLMHead) -> None:
    constraint = Alternating(100)
    events = steered(head, constraint, prompt=18)
    assert reason(events) == "context"
    assert constraint.remaining == [3, 2, 1]


def test_logprobs_are_those_of_the_model_whatever_the_constraint(head: ExactLMHead) -> None:
    events = steered(head, Alternating(1), logprobs=2)
    first = events[0]
    assert isinstance(first, TokenEvent)
    assert first.logprobs is not None
    total = np.log(VOCAB - 1 + np.e)
    assert first.logprobs.logprob == pytest.approx(-total)
    assert first.logprobs.top == ((1, pytest.approx(1 - total)), (0, pytest.approx(-total)))


def test_tokens_bring_logprobs_only_when_asked(head: ExactLMHead) -> None:
    plain = steered(head, None)
    assert [event.logprobs for event in plain if isinstance(event, TokenEvent)] == [None] * 7
    with pytest.raises(InvalidSamplingParameter):
        steered(head, None, logprobs=21)
