"""Policies propose spans, and what they have to leave alone they leave alone."""

from __future__ import annotations

import numpy as np
import pytest

from split_client.chat.visible.dead_turns import OVER, TurnAttention, turns_of
from split_client.chat.visible.least_attended import least_attended
from split_client.chat.visible.places import Line, Part, always_seen, last_message
from split_client.chat.visible.recent import keep_recent
from split_client.chat.visible.tool_results import HEAD, TAIL, least_wanted
from split_wire.hiding.spans import MOST_SPANS, Spans, count


def part(role: str, start: int, *texts: str, each: int = 10) -> Part:
    """Lines of so many positions each."""
    lines = (
        Line(text, start + index * each, start + (index + 1) * each)
        for index, text in enumerate(texts)
    )
    return Part(role, tuple(lines))


CHAT = (
    part("system", 3, "be brief"),
    part("user", 20, "first question"),
    part("assistant", 35, "first answer"),
    part("user", 50, "second question"),
    part("assistant", 65, "second answer"),
    part("user", 80, "third question"),
    part("assistant", 95, "third answer"),
)


def positions(spans: Spans) -> set[int]:
    return {position for start, end in spans for position in range(start, end)}


def test_what_is_always_seen_are_sinks_the_system_message_and_the_last_question() -> None:
    assert always_seen(CHAT) == ((0, 13), (80, 90))
    assert last_message(CHAT) == ((80, 90),)
    assert last_message(CHAT[:1]) == ()


def test_recent_positions_stay() -> None:
    assert keep_recent(105, 40, ((0, 13), (80, 90))) == ((13, 65),)
    assert keep_recent(105, 5, ((0, 13), (80, 90))) == ((13, 80), (90, 100))
    assert keep_recent(30, 40, ((0, 4),)) == ()


def test_what_is_attended_to_least_goes_until_the_share_is_left() -> None:
    row = np.full(1000, 0.5)
    row[100:300] = 0.0
    row[500:600] = 0.1
    fixed: Spans = ((0, 4), (150, 160))
    hidden = least_attended(row, 0.8, fixed)
    assert count(hidden) <= 200
    assert count(hidden) > 170
    # Whole blocks are hidden, of those that are hardly attended to.
    assert row[sorted(positions(hidden))].max() < 0.5
    assert not positions(hidden) & positions(fixed)
    assert positions(least_attended(row, 0.7, fixed)) > positions(hidden)


@pytest.mark.parametrize("length", [20, 4_000, 200_000])
def test_spans_are_never_more_than_a_session_hides(length: int) -> None:
    row = np.tile([0.0] * 16 + [1.0] * 16, length // 32 + 1)[:length]
    assert len(least_attended(row, 0.5, ((0, 4),))) <= MOST_SPANS


def test_a_turn_that_replies_do_not_attend_to_is_dead_and_comes_back_to_life() -> None:
    attention, fixed = TurnAttention(), always_seen(CHAT)
    assert turns_of(CHAT) == [(20, 45), (50, 75), (80, 105)]
    row = np.full(105, 1.0)
    row[20:45] = 0.01
    for _ in range(OVER):
        assert attention.dead(fixed) == ()
        attention.note(CHAT, row)
    assert attention.dead(fixed) == ((20, 45),)
    attention.note(CHAT, np.full(105, 1.0))
    assert attention.dead(fixed) == ()


def test_turns_that_an_edit_took_away_are_forgotten() -> None:
    attention, row = TurnAttention(), np.full(105, 1.0)
    row[20:75] = 0.0
    for _ in range(OVER):
        attention.note(CHAT, row)
    assert attention.dead(()) == ((20, 45), (50, 75))
    attention.note(CHAT[:5], row)
    assert attention.dead(()) == ((20, 45),)
    assert TurnAttention().dead(()) == ()


def results(*texts: str) -> tuple[Part, ...]:
    """Two results of tools of 40 lines each, and a question behind them."""
    old = part("tool", 100, *(f"{text} number {index}\n" for index, text in enumerate(texts)))
    new = part("tool", 600, *(f"{text} number {index}\n" for index, text in enumerate(texts)))
    return (*CHAT, old, new, part("user", 1100, "Where do penguins live?"))


def test_lines_that_share_words_with_the_question_stay_with_head_and_tail() -> None:
    texts = ["of something else"] * 40
    texts[20] = "penguins live in the south"
    parts = results(*texts)
    hidden = least_wanted(parts, "Where do penguins live?", always_seen(parts))
    for start in (100, 600):
        own = positions(hidden) & set(range(start, start + 400))
        assert own
        assert min(own) >= start + HEAD
        assert max(own) < start + 400 - TAIL
        # The line about penguins.
        assert not own & set(range(start + 200, start + 210))
    # Of the older one more goes.
    older, newer = (positions(hidden) & set(range(at, at + 400)) for at in (100, 600))
    assert len(older) > len(newer)


def test_another_question_wants_other_lines() -> None:
    texts = ["of something else"] * 40
    texts[20], texts[25] = "penguins live in the south", "camels walk through deserts"
    parts = results(*texts)
    penguins = positions(least_wanted(parts, "Where do penguins live?", ()))
    camels = positions(least_wanted(parts, "Do camels walk through deserts?", ()))
    assert set(range(350, 360)) <= penguins - camels or set(range(350, 360)) <= penguins
    assert not set(range(350, 360)) & camels


def test_headings_and_errors_stay_longer_than_other_lines() -> None:
    texts = ["of something else"] * 40
    texts[15], texts[18] = "# Chapter two", "Traceback: an error came"
    parts = results(*texts)
    hidden = positions(least_wanted(parts, "anything", ()))
    assert not hidden & set(range(600 + 150, 600 + 160))
    assert not hidden & set(range(600 + 180, 600 + 190))


def test_short_results_and_chats_without_tools_are_left_alone() -> None:
    assert least_wanted(CHAT, "anything", ()) == ()
    assert least_wanted((*CHAT, part("tool", 200, "one\n", "two\n")), "anything", ()) == ()
