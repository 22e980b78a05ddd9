from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from split_client.errors import PromptEmpty, PromptTooLong, SessionUnstable
from split_client.generation.backend import CacheLost, StepOutput
from split_client.generation.sequence import MAX_RESENDS, Sequence
from split_wire.attention import AttentionRequest, AttentionWeights


@dataclass
class ListBackend:
    """A cache that is a list of tokens; its hidden state is the sum of them weighted by place.

    ``losses`` counts the steps at which the cache is lost instead.
    """

    max_rows: int = 4
    max_context: int = 20
    interactive_rows: int = 16
    dtype: str = "f32"
    cached: list[int] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)
    losses: list[int] = field(default_factory=list)
    closed: bool = False

    def open(self, _: object = None) -> None:
        pass

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        if len(self.steps) in self.losses:
            self.losses.remove(len(self.steps))
            self.cached = []
            raise CacheLost
        if start > len(self.cached):
            raise CacheLost
        assert 0 < len(embeddings) <= self.max_rows
        assert 0 < rows <= len(embeddings)
        self.cached[start:] = [int(row[0]) for row in embeddings]
        self.steps.append((start, len(embeddings)))
        return StepOutput(truths(self.cached, rows), 30, 10, 1_000_000)

    def close(self) -> None:
        self.closed = True


def truth(tokens: list[int]) -> NDArray[np.float32]:
    return np.asarray([sum(t * (i + 1) for i, t in enumerate(tokens))], np.float32)


def truths(tokens: list[int], rows: int) -> NDArray[np.float32]:
    ends = range(len(tokens) - rows + 1, len(tokens) + 1)
    return np.stack([truth(tokens[:end]) for end in ends])


def embed(tokens: list[int]) -> NDArray[np.float32]:
    return np.asarray(tokens, np.float32)[:, None]


def sequence_over(backend: ListBackend) -> Sequence:
    return Sequence(backend, embed)  # type: ignore[arg-type]


_TOKENS = st.lists(st.integers(0, 3), min_size=1, max_size=20)


@given(st.lists(_TOKENS, max_size=6), st.lists(st.integers(0, 12), max_size=4, unique=True))
def test_the_cache_always_ends_as_the_tokens_given(
    histories: list[list[int]], losses: list[int]
) -> None:
    backend = ListBackend(losses=losses)
    sequence = sequence_over(backend)
    for tokens in histories:
        try:
            extended = sequence.extend(tokens)
        except SessionUnstable:
            continue
        assert backend.cached == tokens
        assert sequence.cached == len(tokens)
        np.testing.assert_array_equal(extended.hidden, truth(tokens))


def test_only_what_differs_is_sent_in_steps_of_the_allowed_size() -> None:
    backend = ListBackend()
    sequence = sequence_over(backend)
    sequence.extend([1, 2, 3, 4, 5, 6])
    sequence.extend([1, 2, 3, 4, 5, 6, 7])
    sequence.extend([1, 2, 9])
    assert backend.steps == [(0, 4), (4, 2), (6, 1), (2, 1)]
    counters = sequence.counters
    assert (counters.steps, counters.rows_sent, counters.rows_reused) == (4, 8, 8)


def test_tokens_that_are_all_cached_cost_one_row() -> None:
    backend = ListBackend()
    sequence = sequence_over(backend)
    sequence.extend([1, 2, 3])
    assert sequence.extend([1, 2, 3]).rows == 1
    assert sequence.extend([1]).rows == 1
    assert backend.steps[-2:] == [(2, 1), (0, 1)]


def test_a_lost_cache_is_sent_again_whole() -> None:
    backend = ListBackend(losses=[2])
    sequence = sequence_over(backend)
    sequence.extend([1, 2])
    sequence.extend([1, 2, 3])
    sequence.extend([1, 2, 3, 4])
    assert backend.steps[-1] == (0, 4)
    assert sequence.counters.resends == 1


def test_a_cache_that_is_lost_every_time_is_given_up() -> None:
    class Forgetful(ListBackend):
        def step(
            self,
            start: int,
            embeddings: NDArray[np.float32],
            attention: AttentionRequest | None = None,
            adapter: str | None = None,
            rows: int = 1,
        ) -> StepOutput:
            raise CacheLost

    sequence = sequence_over(Forgetful())
    with pytest.raises(SessionUnstable):
        sequence.extend([1])
    assert sequence.counters.resends == 1 + MAX_RESENDS


def test_an_interrupted_step_leaves_no_belief_about_the_cache() -> None:
    class Interrupted(ListBackend):
        def step(
            self,
            start: int,
            embeddings: NDArray[np.float32],
            attention: AttentionRequest | None = None,
            adapter: str | None = None,
            rows: int = 1,
        ) -> StepOutput:
            if len(self.steps) == 1:
                super().step(start, embeddings, rows=rows)
                raise KeyboardInterrupt
            return super().step(start, embeddings, rows=rows)

    backend = Interrupted()
    sequence = sequence_over(backend)
    sequence.extend([1, 2])
    with pytest.raises(KeyboardInterrupt):
        sequence.extend([1, 2, 3])
    sequence.extend([1, 2, 4])
    assert backend.steps[-1] == (0, 3)


def test_times_are_split_into_engine_queue_and_the_rest() -> None:
    extended = sequence_over(ListBackend()).extend([1, 2, 3, 4, 5])
    assert extended.exchange == 2.0
    assert extended.compute == pytest.approx(60e-6)
    assert extended.queue == pytest.approx(20e-6)
    assert extended.wire == pytest.approx(2.0 - 80e-6)


def test_nothing_and_too_much_are_refused_before_anything_is_sent() -> None:
    backend = ListBackend()
    sequence = sequence_over(backend)
    with pytest.raises(PromptEmpty):
        sequence.extend([])
    with pytest.raises(PromptTooLong) as caught:
        sequence.extend([0] * 21)
    assert (caught.value.tokens, caught.value.limit) == (21, 20)
    assert backend.steps == []


def test_closing_forgets_the_cache() -> None:
    backend = ListBackend()
    sequence = sequence_over(backend)
    sequence.extend([1])
    sequence.close()
    assert backend.closed
    assert sequence.cached == 0


@dataclass
class AttentiveBackend(ListBackend):
    """Attends to the first position alone; ``asked`` is what each step was asked for."""

    asked: list[AttentionRequest | None] = field(default_factory=list)

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        output = super().step(start, embeddings, rows=rows)
        self.asked.append(attention)
        if attention is None:
            return output
        weights = np.zeros((1, 1, len(self.cached)), np.float32)
        weights[..., 0] = 1
        return replace(output, attention=AttentionWeights(weights))


def test_only_the_last_step_of_a_long_prefill_is_asked_for_attention() -> None:
    backend, request = AttentiveBackend(max_rows=4), AttentionRequest("mean")
    sequence = sequence_over(backend)
    extended = sequence.extend(list(range(10)), request)
    assert backend.asked == [None, None, request]
    assert extended.attention is not None
    assert extended.attention.values.shape == (1, 1, 10)
    assert sequence.extend(list(range(11))).attention is None


def test_attention_is_asked_for_again_after_a_lost_cache() -> None:
    backend = AttentiveBackend(losses=[1])
    sequence = sequence_over(backend)
    sequence.extend([1, 2])
    assert sequence.extend([1, 2, 3], AttentionRequest()).attention is not None
    assert backend.steps == [(0, 2), (0, 3)]


def test_a_backend_that_knows_no_attention_serves_those_who_ask_for_none() -> None:
    assert sequence_over(ListBackend()).extend([1, 2]).attention is None


@dataclass
class AdaptedBackend(ListBackend):
    """``named`` is the adapter of each step."""

    named: list[str | None] = field(default_factory=list)

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        self.named.append(adapter)
        return super().step(start, embeddings, rows=rows)


def test_every_step_names_the_adapter_of_the_moment_and_the_cache_stays() -> None:
    backend = AdaptedBackend()
    sequence = sequence_over(backend)
    sequence.extend([1, 2])
    sequence.adapter = "banking"
    sequence.extend(list(range(1, 9)))
    sequence.adapter = None
    sequence.extend(list(range(1, 10)))
    assert backend.named == [None, "banking", "banking", None]
    assert backend.steps == [(0, 2), (2, 4), (6, 2), (8, 1)]


def test_the_state_of_the_last_token_alone_is_corrected_and_only_where_it_is_wanted() -> None:
    corrected: list[NDArray[np.float32]] = []

    def correct(hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        corrected.append(hidden)
        return -hidden

    sequence = sequence_over(ListBackend())
    sequence.correct = correct
    tokens = list(range(1, 9))
    np.testing.assert_array_equal(sequence.extend(tokens).hidden, -truth(tokens))
    np.testing.assert_array_equal(sequence.cache([*tokens, 9]).hidden, truth([*tokens, 9]))
    assert len(corrected) == 1


def test_a_correction_that_fails_leaves_the_cache_as_it_is_believed() -> None:
    def fail(hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        raise TimeoutError

    backend = ListBackend()
    sequence = sequence_over(backend)
    sequence.correct = fail
    with pytest.raises(TimeoutError):
        sequence.extend([1, 2, 3])
    sequence.correct = None
    np.testing.assert_array_equal(sequence.extend([1, 2, 3]).hidden, truth([1, 2, 3]))
    assert backend.steps == [(0, 3), (2, 1)]


@pytest.mark.parametrize("went_through", [True, False])
def test_a_step_that_was_broken_off_is_known_once_the_session_is_open_again(
    went_through: bool,
) -> None:
    class Broken(ListBackend):
        breaking = False

        def open(self, _: object = None) -> bool | None:
            return went_through if self.steps and not self.breaking else None

        def step(self, start: int, embeddings: NDArray[np.float32], *more: object) -> StepOutput:
            if not self.breaking or went_through:
                output = super().step(start, embeddings)
            if self.breaking:
                raise KeyboardInterrupt
            return output

    backend = Broken()
    sequence = sequence_over(backend)
    sequence.extend([1, 2, 3])
    backend.breaking = True
    with pytest.raises(KeyboardInterrupt):
        sequence.extend([1, 2, 7, 8])
    backend.breaking = False
    sequence.extend([1, 2, 7, 8, 9])
    assert backend.steps[-1] == ((4, 1) if went_through else (2, 3))
    assert backend.cached == [1, 2, 7, 8, 9]
