"""The kept sequence that a prompt continues."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from split_client.generation.backend import StepOutput
from split_server.compat.keeping import Keeping
from split_server.compat.sequences import LocalSequence, SequencePool


class Positions:
    """A backend that only counts."""

    max_rows, max_context, interactive_rows, dtype = 64, 512, 16, "f32"

    def __init__(self) -> None:
        self.closed = False
        self.steps: list[tuple[int, int]] = []

    def open(self, _: object = None) -> None:
        """Nothing to do."""

    def held(self, _: object, start: int) -> int:
        return start

    def step(self, start: int, embeddings: np.ndarray, *_: object) -> StepOutput:
        self.steps.append((start, len(embeddings)))
        return StepOutput(np.zeros((1, 1), np.float32), 0, 0)

    def rest(self) -> None:
        """Nobody else wants its place."""

    def close(self) -> None:
        self.closed = True


def sequence() -> LocalSequence:
    return LocalSequence(Positions(), lambda ids: np.zeros((len(ids), 1), np.float32))  # type: ignore[arg-type]


def filled(tokens: list[int]) -> LocalSequence:
    made = sequence()
    made.extend(tokens)
    return made


@pytest.fixture
def pool() -> SequencePool:
    return SequencePool(lambda *_: sequence(), most=2)


def is_closed(kept: LocalSequence) -> bool:
    return kept.backend.closed  # type: ignore[attr-defined,no-any-return]


def test_the_last_token_of_a_prompt_may_have_a_step_of_its_own_once() -> None:
    made = sequence()
    backend: Any = made.backend
    made.apart = True
    extended = made.extend(list(range(40)))
    assert backend.steps == [(0, 39), (39, 1)]
    assert (extended.rows, extended.spared.held) == (40, 0)
    made.extend(list(range(50)))
    assert backend.steps[2:] == [(40, 10)]


def test_one_that_is_cached_needs_no_further_step_for_that() -> None:
    made = filled(list(range(40)))
    backend: Any = made.backend
    made.apart = True
    assert made.extend(list(range(40))).rows == 1
    assert backend.steps[1:] == [(39, 1)]


def test_the_sequence_with_most_in_common_is_continued(pool: SequencePool) -> None:
    near, far = filled([1, 2, 3, 4]), filled([1, 2, 9, 9])
    pool.give_back("ann", near)
    pool.give_back("ann", far)
    assert pool.take("ann", [1, 2, 3, 4, 5]) is near
    assert len(pool) == 1


def test_a_sequence_that_shares_only_its_beginning_is_left_to_its_chat(pool: SequencePool) -> None:
    kept = filled(list(range(20)))
    pool.give_back("ann", kept)
    assert pool.take("ann", [0, 1, 2, 50, 51]) is not kept
    assert len(pool) == 1


def test_a_prompt_that_is_cached_whole_is_continued_whatever_followed_it(
    pool: SequencePool,
) -> None:
    kept = filled([1, 2, *range(50)])
    pool.give_back("ann", kept)
    assert pool.take("ann", [1, 2]) is kept


def test_nobody_continues_the_sequence_of_somebody_else(pool: SequencePool) -> None:
    kept = filled([1, 2, 3])
    pool.give_back("ann", kept)
    assert pool.take("bob", [1, 2, 3]) is not kept


def test_the_longest_unused_sequence_goes_when_too_many_are_kept(pool: SequencePool) -> None:
    kept = [filled([number, number]) for number in range(3)]
    for one in kept:
        pool.give_back("ann", one)
    assert [is_closed(one) for one in kept] == [True, False, False]


def test_an_empty_sequence_is_not_kept(pool: SequencePool) -> None:
    kept = sequence()
    pool.give_back("ann", kept)
    assert is_closed(kept)
    assert len(pool) == 0


def test_closing_ends_every_kept_sequence(pool: SequencePool) -> None:
    kept = filled([1])
    pool.give_back("ann", kept)
    pool.close()
    assert is_closed(kept)


def test_a_sequence_of_another_salt_is_not_continued(pool: SequencePool) -> None:
    kept = filled([1, 2, 3])
    pool.give_back("ann", kept, Keeping("mine"))
    assert pool.take("ann", [1, 2, 3]) is not kept
    assert pool.take("ann", [1, 2, 3], Keeping("other")) is not kept
    assert pool.take("ann", [1, 2, 3], Keeping("mine")) is kept
