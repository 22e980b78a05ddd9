"""What is hidden of tokens follows them from session to session."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.errors import ServerRefused
from split_client.generation.backend import CacheLost, StepOutput
from split_client.generation.sequence import Sequence
from split_client.generation.veil import Veil
from split_wire.hiding.spans import Spans, cut


class Recorder:
    """A backend that can hide, and remembers what was asked of it."""

    max_rows, max_context, interactive_rows, hides = 8, 1000, 4, True
    dtype: Any = "f32"

    def __init__(self) -> None:
        self.log: list[object] = []
        self.held = 0
        self.hidden: Spans = ()
        self.lost = self.refuses = False

    def open(self, _: object = None) -> int | None:
        return None

    def held_of(self, wanted: object, start: int) -> int:
        return start

    def step(self, start: int, rows: NDArray[np.float32], *_: object) -> StepOutput:
        if self.lost:
            self.lost, self.held, self.hidden = False, 0, ()
            raise CacheLost
        self.log.append((start, start + len(rows)))
        self.held, self.hidden = start + len(rows), cut(self.hidden, start)
        return StepOutput(np.zeros((1, 2), np.float32), 0, 0)

    def sees_all_but(self, hidden: Spans, held: int) -> bool:
        return cut(self.hidden, held) == hidden

    def see_all_but(self, hidden: Spans, message: Spans) -> None:
        if self.refuses:
            raise ServerRefused("spans_refused", "no")
        self.hidden = hidden
        self.log.append(("hide", hidden, message))

    def close(self) -> None:
        pass


def sequence(backend: Recorder) -> Sequence:
    return Sequence(backend, lambda ids: np.zeros((len(ids), 2), np.float32))  # type: ignore[arg-type]


IDS = [*range(30)]
SPANS: Spans = ((4, 9), (12, 20))
MESSAGE: Spans = ((24, 28),)


@pytest.fixture
def backend() -> Recorder:
    return Recorder()


def test_it_is_hidden_at_once_where_it_is_held(backend: Recorder) -> None:
    made = sequence(backend)
    made.cache(IDS)
    made.hide(IDS, SPANS, MESSAGE)
    assert backend.log[-1] == ("hide", SPANS, MESSAGE)
    made.cache([*IDS, 7])
    assert backend.log[-1] == (30, 31)
    assert made.hidden_of([*IDS, 7]) == SPANS


def test_a_lost_session_is_sent_up_to_what_is_hidden_and_hides_it_before_the_rest(
    backend: Recorder,
) -> None:
    made = sequence(backend)
    made.cache(IDS)
    made.hide(IDS, SPANS, MESSAGE)
    backend.log.clear()
    backend.lost = True
    made.cache([*IDS, 7])
    hide = backend.log.index(("hide", SPANS, MESSAGE))
    assert backend.log[hide - 1] == (16, 20)
    assert backend.log[hide + 1 :] == [(20, 28), (28, 31)]


def test_an_edit_cuts_what_is_hidden(backend: Recorder) -> None:
    made = sequence(backend)
    made.cache(IDS)
    made.hide(IDS, SPANS, MESSAGE)
    edited = [*IDS[:15], 99, 98]
    made.cache(edited)
    assert made.hidden_of(edited) == ((4, 9), (12, 15))
    assert backend.hidden == ((4, 9), (12, 15))
    made.cache([1, 2, 3])
    assert backend.hidden == ()


def test_what_is_shown_is_not_hidden_again(backend: Recorder) -> None:
    made = sequence(backend)
    made.cache(IDS)
    made.hide(IDS, SPANS, MESSAGE)
    made.show()
    assert backend.hidden == ()
    backend.log.clear()
    backend.lost = True
    made.cache([*IDS, 7])
    assert not [entry for entry in backend.log if entry[0] == "hide"]  # type: ignore[index]


def test_a_refusal_leaves_what_was_hidden(backend: Recorder) -> None:
    made = sequence(backend)
    made.cache(IDS)
    made.hide(IDS, ((4, 9),), MESSAGE)
    backend.refuses = True
    with pytest.raises(ServerRefused):
        made.hide(IDS, SPANS, MESSAGE)
    assert made.hidden_of(IDS) == ((4, 9),)


def test_other_tokens_have_none_of_it() -> None:
    veil = Veil((1, 2, 3, 4, 5, 6), ((4, 6),))
    assert veil.of([1, 2, 3, 4, 5, 6, 7]) == ((4, 6),)
    assert veil.of([1, 2, 3, 4, 5, 9]) == ((4, 5),)
    assert veil.of([1, 9]) == ()
