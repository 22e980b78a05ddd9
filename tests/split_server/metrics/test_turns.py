"""The steps that begin a turn, and the times that follow."""

from __future__ import annotations

import gc

from split_server.kv.cache import KVCache
from split_server.metrics.histogram import Histogram
from split_server.metrics.turns import Turns

_MAX_ROWS = 8


def _seen(histogram: Histogram) -> tuple[int, float]:
    return histogram.cumulative()[-1][1], histogram.total


def test_a_turn_has_one_first_token_and_times_between_the_next_ones() -> None:
    turns, cache = Turns(_MAX_ROWS), KVCache()
    turns.answered(cache, 0, 5, begun=10.0, ended=11.0)
    turns.answered(cache, 5, 1, begun=11.5, ended=12.0)
    turns.answered(cache, 6, 1, begun=12.25, ended=12.5)
    assert _seen(turns.first_token) == (1, 1.0)
    assert _seen(turns.per_token) == (2, 1.5)


def test_a_long_prompt_counts_from_its_first_step_to_its_last() -> None:
    turns, cache = Turns(_MAX_ROWS), KVCache()
    turns.answered(cache, 0, 8, begun=1.0, ended=2.0)
    turns.answered(cache, 8, 8, begun=3.0, ended=4.0)
    assert _seen(turns.first_token) == (0, 0.0)
    turns.answered(cache, 16, 3, begun=5.0, ended=6.0)
    assert _seen(turns.first_token) == (1, 5.0)


def test_a_prompt_of_exactly_the_most_rows_counts_with_its_first_token() -> None:
    turns, cache = Turns(_MAX_ROWS), KVCache()
    turns.answered(cache, 0, 8, begun=1.0, ended=3.0)
    turns.answered(cache, 8, 1, begun=3.5, ended=4.0)
    assert _seen(turns.first_token) == (1, 2.0)
    assert _seen(turns.per_token) == (1, 1.0)


def test_a_rollback_begins_a_turn_even_with_one_row() -> None:
    turns, cache = Turns(_MAX_ROWS), KVCache()
    turns.answered(cache, 0, 5, begun=0.0, ended=1.0)
    turns.answered(cache, 5, 1, begun=1.0, ended=2.0)
    turns.answered(cache, 4, 1, begun=100.0, ended=100.5)
    assert _seen(turns.first_token) == (2, 1.5)
    assert _seen(turns.per_token) == (1, 1.0)


def test_the_next_turn_does_not_count_the_pause_before_it() -> None:
    turns, cache = Turns(_MAX_ROWS), KVCache()
    turns.answered(cache, 0, 5, begun=0.0, ended=1.0)
    turns.answered(cache, 5, 3, begun=600.0, ended=600.5)
    assert _seen(turns.first_token) == (2, 1.5)
    assert _seen(turns.per_token) == (0, 0.0)


def test_after_a_failure_the_next_step_is_a_turn_of_its_own() -> None:
    turns, cache = Turns(_MAX_ROWS), KVCache()
    turns.answered(cache, 0, 5, begun=0.0, ended=1.0)
    turns.failed(cache)
    turns.answered(cache, 5, 1, begun=7.0, ended=7.5)
    assert _seen(turns.first_token) == (2, 1.5)
    assert _seen(turns.per_token) == (0, 0.0)


def test_sessions_that_are_gone_leave_nothing() -> None:
    turns = Turns(_MAX_ROWS)
    for _ in range(100):
        turns.answered(KVCache(), 0, 5, begun=0.0, ended=1.0)
    gc.collect()
    assert not turns._known


def test_a_step_with_a_draft_brings_as_many_tokens_as_the_next_one_goes_on_from() -> None:
    turns, cache = Turns(_MAX_ROWS), KVCache()
    turns.answered(cache, 0, 5, begun=0.0, ended=1.0)
    turns.answered(cache, 5, 4, begun=1.0, ended=2.0, returned=4)
    # Of three drafted tokens two were right: three tokens were chosen in 1.5 s.
    turns.answered(cache, 8, 1, begun=3.0, ended=3.5)
    assert _seen(turns.first_token) == (1, 1.0)
    assert _seen(turns.per_token) == (4, 2.5)


def test_an_edit_behind_a_draft_begins_a_turn() -> None:
    turns, cache = Turns(_MAX_ROWS), KVCache()
    turns.answered(cache, 0, 5, begun=0.0, ended=1.0)
    turns.answered(cache, 5, 4, begun=1.0, ended=2.0, returned=4)
    turns.answered(cache, 5, 1, begun=9.0, ended=9.5)
    assert _seen(turns.first_token) == (2, 1.5)
