from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.generation.errors import NothingAllowed
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.loop import Event, Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.drafts import Draft, StepCost
from split_client.generation.speculation.lookahead import Lookahead
from split_wire.attention import AttentionRequest
from tests.split_client.generation.speculation.scripted import (
    VOCABULARY,
    WIDTH,
    RowBackend,
    Texts,
    embed,
    plainly,
    state_after,
)

PROMPT = [5, 9, 3]
GREEDY = SamplingParams()


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> ExactLMHead:
    path: Path = tmp_path_factory.mktemp("head") / "head.bin"
    np.random.default_rng(5).normal(size=(VOCABULARY, WIDTH)).astype("<f4").tofile(path)
    return ExactLMHead(WeightRows.open(path, "f32", VOCABULARY, WIDTH), HeadSpec())


class Says:
    """Drafts what it is told to, from the reply's tokens on; ``asked``: for how many at most."""

    def __init__(self, reply: list[int], prompt: int = len(PROMPT), length: int = 99) -> None:
        self._reply, self._prompt, self._length = reply, prompt, length
        self.asked: list[int] = []
        self.judgements: list[tuple[int, int]] = []
        self.costs: list[StepCost] = []

    def draft(self, tokens: list[int], most: int, permitted: Any) -> Draft:
        self.asked.append(most)
        at = len(tokens) - self._prompt
        guess = self._reply[at : at + min(most, self._length)]
        return Draft("says", tuple(guess), 1).first(permitted(guess))

    def judged(self, draft: Draft, accepted: int) -> None:
        self.judgements.append((len(draft.tokens), accepted))

    def stepped(self, cost: StepCost) -> None:
        self.costs.append(cost)

    def head(self, seconds: float) -> None:
        pass

    def replied(self, prompt: list[int], reply: list[int]) -> None:
        pass


class Spelled:
    """A constraint that forces a text, token by token, and then allows everything."""

    finished = False

    def __init__(self, text: list[int]) -> None:
        self.text = list(text)

    def allowed(self, remaining: int) -> NDArray[np.bool_] | None:
        return np.arange(VOCABULARY) == self.text[0] if self.text else None

    def accept(self, token: int) -> None:
        if self.text:
            assert token == self.text.pop(0)

    def forced(self, remaining: int) -> list[int]:
        return self.text[:remaining]

    def permitted(self, tokens: list[int], remaining: int) -> int:
        return len(tokens)


def sequence_over(backend: RowBackend) -> Sequence:
    return Sequence(backend, embed)  # type: ignore[arg-type]


def plain(head: ExactLMHead, count: int, adapter: str | None = None) -> list[int]:
    limits = Limits(frozenset(), count)
    return plainly(Sampler(head, GREEDY), PROMPT, limits, None, None, adapter).ids


def reply(
    head: ExactLMHead,
    sequence: Sequence,
    count: int,
    params: SamplingParams = GREEDY,
    **options: Any,
) -> list[TokenEvent]:
    limits = Limits(frozenset(), count)
    events = decode(sequence, Sampler(head, params), Texts(), PROMPT, limits, **options)
    return [event for event in events if isinstance(event, TokenEvent)]


def ids(events: list[TokenEvent]) -> list[int]:
    return [event.token for event in events]


def test_a_right_draft_brings_several_tokens_with_one_step(head: ExactLMHead) -> None:
    wanted = plain(head, 12)
    backend, says = RowBackend(max_rows=64), Says(wanted, length=3)
    events = reply(head, sequence_over(backend), 12, drafter=says)
    assert ids(events) == wanted
    assert backend.steps == [(0, 6, 4), (6, 4, 4), (10, 4, 4)]
    assert [event.rows for event in events] == [6, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0]
    assert [event.prompt_rows for event in events[:5]] == [3, 0, 0, 0, 0]
    assert [event.guessed for event in events[:5]] == [True, True, True, False, True]
    assert says.judgements == [(3, 3)] * 3
    assert [(cost.rows, cost.returned) for cost in says.costs] == [(6, 4), (4, 4), (4, 4)]


def test_the_first_wrong_token_makes_the_rest_of_a_draft_unused(head: ExactLMHead) -> None:
    wanted = plain(head, 4)
    guess = [wanted[0], (wanted[1] + 1) % VOCABULARY, wanted[2], wanted[3]]
    backend, says = RowBackend(max_rows=64), Says(guess, length=4)
    assert ids(reply(head, sequence_over(backend), 4, drafter=says)) == wanted
    # What was rejected makes way with the next step.
    assert backend.steps[:2] == [(0, 6, 4), (4, 2, 2)]
    assert says.judgements[0] == (3, 1)


def test_the_tokens_of_one_step_have_its_time_on_the_first(head: ExactLMHead) -> None:
    says = Says(plain(head, 4), length=3)
    first, *later = reply(head, sequence_over(RowBackend(max_rows=64)), 4, drafter=says)
    assert (first.timing.engine, first.timing.wire) == pytest.approx((0.003, 0.047))
    assert [(e.timing.engine, e.timing.queue, e.timing.wire) for e in later] == [(0, 0, 0)] * 3


def test_no_draft_goes_beyond_what_is_interactive_nor_beyond_the_reply_and_its_context(
    head: ExactLMHead,
) -> None:
    wanted = plain(head, 40)
    says = Says(wanted)
    backend = RowBackend(max_rows=64, interactive_rows=8)
    assert ids(reply(head, sequence_over(backend), 40, drafter=says)) == wanted
    assert max(rows for _, _, rows in backend.steps) == 8
    assert says.asked[0] == 5  # beside three rows of the prompt
    short = Says(wanted)
    reply(head, sequence_over(RowBackend(max_rows=64)), 3, drafter=short)
    assert short.asked == [2]
    narrow = Says(wanted)
    backend = RowBackend(max_rows=64, max_context=7)
    assert ids(reply(head, sequence_over(backend), 40, drafter=narrow)) == wanted[:5]
    assert max(start + sent for start, sent, _ in backend.steps) <= 7


def test_a_server_cannot_ask_for_drafts_without_end(head: ExactLMHead) -> None:
    says = Says(plain(head, 90))
    reply(head, sequence_over(RowBackend(max_rows=512, interactive_rows=512)), 90, drafter=says)
    assert max(says.asked) == 31


def test_only_states_that_are_asked_for_are_corrected(head: ExactLMHead) -> None:
    corrected: list[NDArray[np.float32]] = []

    def correct(hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        corrected.append(hidden)
        return hidden

    wanted = plain(head, 10)
    wrong = [*wanted[:3], *(token ^ 1 for token in wanted[3:])]
    sequence = sequence_over(RowBackend(max_rows=64))
    sequence.correct = correct
    assert ids(reply(head, sequence, 10, drafter=Says(wrong))) == wanted
    assert len(corrected) == 10
    tokens = [*PROMPT, *wanted]
    for count, hidden in enumerate(corrected, len(PROMPT)):
        np.testing.assert_array_equal(hidden, state_after(tokens[:count]))


def test_forced_tokens_are_neither_corrected_nor_drawn(head: ExactLMHead) -> None:
    corrected: list[object] = []
    sequence = sequence_over(RowBackend(max_rows=64))
    sequence.correct = lambda hidden: corrected.append(hidden) or hidden  # type: ignore[func-returns-value]
    events = reply(head, sequence, 9, constraint=Spelled([4, 5, 6, 7]))
    assert [event.forced for event in events] == [True] * 4 + [False] * 5
    assert [event.rows for event in events] == [0, 0, 0, 0, 7, 1, 1, 1, 1]
    assert events[4].prompt_rows == 3
    assert len(corrected) == 5


def test_a_forced_run_goes_in_one_step_however_long_it_is(head: ExactLMHead) -> None:
    backend = RowBackend(max_rows=64, interactive_rows=4)
    text = [1 + n % 20 for n in range(30)]
    events = reply(head, sequence_over(backend), 32, constraint=Spelled(text))
    assert backend.steps == [(0, 33, 1), (33, 1, 1)]
    assert ids(events)[:30] == text


def test_what_is_banned_cannot_be_forced(head: ExactLMHead) -> None:
    params = SamplingParams(banned=frozenset({6}))
    with pytest.raises(NothingAllowed):
        reply(head, sequence_over(RowBackend()), 9, params, constraint=Spelled([4, 5, 6, 7]))


def test_logprobs_of_forced_tokens_come_from_one_step_too(head: ExactLMHead) -> None:
    backend = RowBackend(max_rows=64)
    events = reply(head, sequence_over(backend), 6, constraint=Spelled([4, 5, 6]), logprobs=1)
    assert backend.steps == [(0, 6, 4), (6, 1, 1), (7, 1, 1)]
    assert all(event.logprobs is not None for event in events)


def test_with_attention_every_token_has_a_step_of_one_row(head: ExactLMHead) -> None:
    backend = RowBackend(max_rows=64)
    options: Any = {"attention": AttentionRequest(), "constraint": Spelled([4, 5])}
    events = reply(head, sequence_over(backend), 5, drafter=Says([4, 5, 1, 1]), **options)
    assert backend.steps == [(0, 3, 1), (3, 1, 1), (4, 1, 1), (5, 1, 1), (6, 1, 1)]
    assert ids(events)[:2] == [4, 5]


def test_another_adapter_in_the_middle_has_states_of_its_own(head: ExactLMHead) -> None:
    sequence = sequence_over(RowBackend(max_rows=64))
    ahead = Lookahead(sequence, PROMPT, Says([1, 2, 3]))  # type: ignore[arg-type]
    ahead.state(ahead.remaining(9))
    ahead.take(1)
    sequence.adapter = "other"
    np.testing.assert_array_equal(ahead.state().hidden, state_after([*PROMPT, 1], "other"))


def test_a_cache_that_somebody_else_moved_is_not_believed(head: ExactLMHead) -> None:
    backend = RowBackend(max_rows=64)
    sequence = sequence_over(backend)
    ahead = Lookahead(sequence, PROMPT, Says([1, 2, 3]))  # type: ignore[arg-type]
    ahead.state(ahead.remaining(9))
    sequence.extend([7, 7])
    ahead.take(1)
    np.testing.assert_array_equal(ahead.state().hidden, state_after([*PROMPT, 1]))
    assert backend.cached == [*PROMPT, 1]
    sequence.leave()
    ahead.take(2)
    np.testing.assert_array_equal(ahead.state().hidden, state_after([*PROMPT, 1, 2]))


def test_an_interrupted_step_leaves_nothing_to_be_taken_twice(head: ExactLMHead) -> None:
    wanted = plain(head, 8)

    class Interrupted(RowBackend):
        def step(self, *args: Any, **options: Any) -> Any:
            output = super().step(*args, **options)
            if len(self.steps) == 2:
                raise KeyboardInterrupt
            return output

    sequence = sequence_over(Interrupted(max_rows=64))
    events: list[Event] = []
    limits = Limits(frozenset(), 8)
    drafter: Any = Says(wanted, length=2)
    with pytest.raises(KeyboardInterrupt):
        events.extend(
            decode(sequence, Sampler(head, GREEDY), Texts(), PROMPT, limits, drafter=drafter)
        )
    assert ids(reply(head, sequence, 8, drafter=Says(wanted, length=2))) == wanted


def test_the_first_step_of_a_session_that_is_opened_again_has_no_draft(head: ExactLMHead) -> None:
    wanted = plain(head, 6)
    backend, says = RowBackend(max_rows=64), Says(wanted, length=2)
    sequence = sequence_over(backend)
    sequence.extend([1])
    sequence.leave()
    assert ids(reply(head, sequence, 6, drafter=says)) == wanted
    assert backend.steps[1] == (0, 3, 1)
    assert says.asked[0] == 0
