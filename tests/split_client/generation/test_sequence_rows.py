"""Steps that bring the states of several tokens, the last of which are a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from split_client.generation.backend import OnlyAllRows, StepOutput
from split_client.generation.sequence import Sequence
from split_client.generation.trail import SHORTEST
from tests.split_client.generation.test_sequence import ListBackend, embed, truths


def sequence_over(**options: Any) -> tuple[ListBackend, Sequence]:
    backend = ListBackend(**options)
    return backend, Sequence(backend, embed)  # type: ignore[arg-type]


@pytest.mark.parametrize("rows", range(1, 11))
def test_the_states_of_the_last_tokens_come_from_however_many_steps(rows: int) -> None:
    tokens = list(range(1, 11))
    backend, sequence = sequence_over(max_rows=4)
    extended = sequence.cache(tokens, rows=rows)
    np.testing.assert_array_equal(extended.states, truths(tokens, rows))
    np.testing.assert_array_equal(extended.hidden, extended.states[-1])
    assert backend.steps == [(0, 4), (4, 4), (8, 2)]


def test_rows_that_are_held_are_sent_again_for_their_states() -> None:
    backend, sequence = sequence_over()
    sequence.cache([1, 2, 3, 4])
    extended = sequence.cache([1, 2, 3, 4], rows=3)
    np.testing.assert_array_equal(extended.states, truths([1, 2, 3, 4], 3))
    assert backend.steps[-1] == (1, 3)


@pytest.mark.parametrize("rows", [0, -1, 3])
def test_more_states_than_tokens_are_a_mistake_of_the_caller(rows: int) -> None:
    backend, sequence = sequence_over()
    with pytest.raises(ValueError, match="rows"):
        sequence.cache([1, 2], rows=rows)
    assert backend.steps == []


def test_a_draft_that_is_taken_back_leaves_no_trail() -> None:
    _, sequence = sequence_over(max_rows=64, max_context=64)
    prompt = list(range(1, SHORTEST + 4))
    sequence.cache([*prompt, 5, 6, 7], rows=4)
    sequence.cache([*prompt, 8, 9], rows=2)
    sequence.cache([*prompt, 8, 10])
    assert sequence.trail.ends == []


def test_an_edit_before_the_draft_leaves_the_trail_of_what_was_cached() -> None:
    _, sequence = sequence_over(max_rows=64, max_context=64)
    prompt = list(range(1, SHORTEST + 4))
    sequence.cache([*prompt, 5, 6], rows=3)
    sequence.cache([*prompt[:-1], 9])
    assert sequence.trail.ends == [[*prompt, 5, 6]]


def test_a_draft_of_an_earlier_step_is_no_draft_any_more() -> None:
    _, sequence = sequence_over(max_rows=64, max_context=64)
    held = [*range(1, SHORTEST + 4), 5, 6]
    sequence.cache(held, rows=3)
    sequence.cache([*held, 7])
    sequence.cache([*held[:-1], 8])
    assert sequence.trail.ends == [[*held, 7]]


@dataclass
class OldBackend(ListBackend):
    """Returns the state of one row or those of all."""

    def step(self, start: int, embeddings: Any, *more: Any, **options: Any) -> StepOutput:
        rows = more[2]
        if 1 < rows < len(embeddings):
            raise OnlyAllRows
        return super().step(start, embeddings, rows=rows)


@pytest.mark.parametrize("rows", range(1, 8))
def test_a_backend_that_does_not_count_rows_gets_the_prompt_before_the_draft(rows: int) -> None:
    tokens = [3, 1, 4, 1, 5, 9, 2]
    backend = OldBackend(max_rows=4)
    extended = Sequence(backend, embed).cache(tokens, rows=rows)  # type: ignore[arg-type]
    np.testing.assert_array_equal(extended.states, truths(tokens, rows))
    assert extended.rows == len(tokens)
    assert backend.cached == tokens


def test_a_lost_cache_brings_the_same_states() -> None:
    _, sequence = sequence_over(losses=[1])
    sequence.cache([1, 2, 3])
    extended = sequence.cache([1, 2, 3, 4, 5], rows=2)
    np.testing.assert_array_equal(extended.states, truths([1, 2, 3, 4, 5], 2))
    assert sequence.counters.resends == 1
