"""What is kept after an edit, what is computed anew, and in how many steps."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.generation.editing.plan import LAST, SEAM, WORTH, Edit, planned
from split_wire.splice import Kept, end_of, gaps


def text(count: int, seed: int = 0) -> list[int]:
    draw = random.Random(seed)  # noqa: S311 - tokens, not a secret
    return [draw.randrange(50_000) for _ in range(count)]


def carried_out(held: list[int], wanted: list[int], edits: list[Edit], most: int) -> list[int]:
    """What is held after ``edits``, each of which is one that a server takes."""
    now = list(held)
    for edit in edits:
        brought = [wanted[at] for part in edit.rows for at in part]
        assert 1 <= len(brought) == edit.brings <= most
        after, at = now[: edit.start], 0
        for index, (first, last) in enumerate(gaps(edit.start, edit.spans, edit.brings)):
            assert 0 <= first <= last
            after += brought[first:last]
            if index < len(edit.spans):
                span = edit.spans[index]
                assert span.new == len(after)
                assert span.old >= max(at, edit.start)
                at = span.old + span.rows
                assert at <= len(now)
                after += now[span.old : at]
        assert after == edit.tokens
        assert len(after) == end_of(edit.start, edit.spans, edit.brings)
        now = after
    return now


def test_one_line_is_computed_with_the_rows_behind_it_and_the_question() -> None:
    held = text(1000)
    wanted = [*held[:100], *text(12, 1), *held[109:], *text(30, 2)]
    question = len(wanted) - 30
    [edit] = planned(held, wanted, question, 512, 4096)
    assert edit.start == 100
    assert edit.spans == (Kept(109 + SEAM, 112 + SEAM, 891 - SEAM),)
    assert edit.rows == (range(100, 112 + SEAM),)
    assert carried_out(held, wanted, [edit], 512) == wanted[:question]


def test_the_last_rows_are_computed_wherever_the_question_is_thought_to_begin() -> None:
    held = text(400)
    wanted = [*held[:50], 1, *held[51:]]
    [edit] = planned(held, wanted, len(wanted), 512, 4096)
    assert len(edit.tokens) == len(wanted) - LAST


def test_nothing_from_the_question_on_is_kept() -> None:
    held = text(400)
    wanted = [*held[:50], 1, *held[51:]]
    [edit] = planned(held, wanted, 300, 512, 4096)
    assert len(edit.tokens) == 300
    assert planned(held, wanted, 60, 512, 4096) == []


def test_an_edit_that_brings_more_than_a_step_may_goes_in_several() -> None:
    held = text(1000)
    wanted = [*held[:100], *text(700, 1), *held[100:], *text(30, 2)]
    edits = planned(held, wanted, len(wanted) - 30, 256, 4096)
    assert [edit.brings for edit in edits] == [256, 256, 188 + SEAM]
    assert carried_out(held, wanted, edits, 256) == wanted[:-30]


def test_what_would_not_fit_is_not_begun() -> None:
    held = text(1000)
    wanted = [*held[:100], *text(700, 1), *held[100:], *text(30, 2)]
    assert planned(held, wanted, len(wanted) - 30, 256, 1200) == []


@pytest.mark.parametrize("wanted", [text(400), [*text(400), 1, 2], text(200), [], text(9, 3)])
def test_without_an_edit_nothing_moves(wanted: list[int]) -> None:
    assert planned(text(400), wanted, len(wanted), 512, 4096) == []


def test_a_few_rows_are_computed_and_not_moved() -> None:
    held = text(100 + WORTH + SEAM - 1)
    wanted = [*held[:50], 1, *held[100:], *text(60, 1)]
    assert planned(held, wanted, len(wanted) - 60, 512, 4096) == []


@given(
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 60), st.integers(0, 30)), max_size=6),
    st.integers(1, 40),
    st.integers(0, 900),
)
def test_whatever_changes_the_edits_lead_to_what_is_wanted(
    changes: list[tuple[int, int, int]], most: int, question: int
) -> None:
    held, wanted, at = text(700), list[int](), 0
    for kept, dropped, brought in changes:
        wanted += [*held[at : at + kept], *text(brought, brought)]
        at += kept + dropped
    wanted += held[at:]
    edits = planned(held, wanted, question, most, 4096)
    if edits:
        after = carried_out(held, wanted, edits, most)
        assert after == wanted[: len(after)]
        assert len(after) <= min(max(question, 0), len(wanted) - LAST)
