"""Steps of one prefill that are under way together."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.generation.backend import CacheLost, StepOutput
from split_client.generation.sequence import Sequence
from tests.split_client.generation.test_sequence import ListBackend, embed, truth, truths


class Pipe(ListBackend):
    """Has up to ``most_under_way`` steps under way; ``log`` tells what was sent and answered.

    ``interrupted`` is called with the number of the call before anything happens.
    """

    most_under_way = 2

    def __init__(self, interrupted: Callable[[int], None] = lambda _: None, **options: Any) -> None:
        super().__init__(**options)
        self.log: list[str] = []
        self._under_way: deque[tuple[int, NDArray[np.float32], int]] = deque()
        self._interrupted, self._calls = interrupted, 0

    def open(self, _: object = None) -> int | None:
        """All that is under way goes through."""
        if not self._under_way:
            return None
        went_through = len(self._under_way)
        while self._under_way:
            self._serve()
        return went_through

    def begin(self, start: int, embeddings: Any, _: Any, __: Any, rows: int) -> None:
        self._call()
        self._under_way.append((start, embeddings, rows))
        self.log.append(f"sent {start}")

    def settle(self) -> StepOutput:
        self._call()
        output = self._serve()
        self._call()
        return output

    def _serve(self) -> StepOutput:
        start, embeddings, rows = self._under_way.popleft()
        self.log.append(f"answered {start}")
        try:
            return super().step(start, embeddings, rows=rows)
        except CacheLost:
            self._under_way.clear()
            raise

    def _call(self) -> None:
        self._calls += 1
        self._interrupted(self._calls)


def over(backend: Pipe, **options: Any) -> Sequence:
    return Sequence(backend, embed, **options)  # type: ignore[arg-type]


def test_the_next_step_of_a_prefill_is_sent_before_the_one_before_it_is_answered() -> None:
    backend = Pipe()
    extended = over(backend).extend(list(range(1, 14)))
    np.testing.assert_array_equal(extended.hidden, truth(list(range(1, 14))))
    assert backend.log == [
        "sent 0",
        "sent 4",
        "answered 0",
        "sent 8",
        "answered 4",
        "sent 12",
        "answered 8",
        "answered 12",
    ]


def test_rows_that_are_noised_settle_each_step_before_the_next_one_leaves() -> None:
    backend = Pipe()
    noised = over(backend, rows=lambda tokens, start, stop: embed(tokens[start:stop]))
    noised.extend(list(range(1, 10)))
    assert backend.log[:4] == ["sent 0", "answered 0", "sent 4", "answered 4"]


def test_states_over_several_steps_come_one_step_after_the_other() -> None:
    backend, tokens = Pipe(), list(range(1, 11))
    extended = over(backend).cache(tokens, rows=5)
    np.testing.assert_array_equal(extended.states, truths(tokens, 5))
    assert backend.log[1] == "answered 0"


@pytest.mark.parametrize("at", range(4))
def test_a_cache_that_is_lost_with_steps_under_way_is_made_again(at: int) -> None:
    backend, tokens = Pipe(losses=[at]), list(range(1, 14))
    sequence = over(backend)
    np.testing.assert_array_equal(sequence.extend(tokens).hidden, truth(tokens))
    assert (backend.cached, sequence.counters.resends) == (tokens, 1)


@pytest.mark.parametrize("at", range(1, 13))
def test_an_interruption_at_any_point_leaves_no_wrong_belief(at: int) -> None:
    def interrupted(call: int) -> None:
        if call == at:
            raise KeyboardInterrupt

    backend, tokens = Pipe(interrupted), list(range(1, 14))
    sequence = over(backend)
    with pytest.raises(KeyboardInterrupt):
        sequence.extend(tokens)
    other = [*tokens[:6], 9, 9, 9]
    np.testing.assert_array_equal(sequence.extend(other).hidden, truth(other))
    assert backend.cached == other
    np.testing.assert_array_equal(sequence.extend(tokens).hidden, truth(tokens))
