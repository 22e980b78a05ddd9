"""Drafts by the longest repetition, and the round trips that they leave."""

from __future__ import annotations

import numpy as np
import pytest

from scripts.real.measures.drafts import accepted, draft, round_trips


def test_the_draft_is_what_followed_the_longest_repetition() -> None:
    #        the longest, "2 3", was followed by 4; "3" alone by 9 since
    assert draft([1, 2, 3, 4, 5, 3, 9, 2, 3], longest=2) == [4, 5]


def test_of_equal_repetitions_the_newest_is_followed() -> None:
    assert draft([7, 1, 7, 2, 7], longest=1) == [2]


@pytest.mark.parametrize("context", [[], [1], [1, 2, 3]])
def test_without_a_repetition_there_is_no_draft(context: list[int]) -> None:
    assert draft(context) == []


def test_a_draft_may_run_into_the_end_it_repeats() -> None:
    assert draft([5, 5, 5], longest=4) == [5]


def test_tokens_are_accepted_up_to_the_first_wrong_one() -> None:
    assert accepted([1, 2, 3], [1, 2, 4, 3]) == 2
    assert accepted([1, 2, 3], [1, 2]) == 2
    assert accepted([], [1]) == 0


def test_a_reply_that_repeats_the_prompt_takes_few_round_trips() -> None:
    text = list(range(100, 116))
    # The first token has nothing to go on; then 15 of a draft, and none after the last.
    assert round_trips(text, text) == 2


def test_every_reply_takes_at_least_its_share_and_at_most_its_length() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        prompt, reply = rng.integers(0, 4, (2, 40)).tolist()
        steps = round_trips(prompt, reply, longest=7)
        assert 40 / 8 <= steps <= 40
        assert round_trips(prompt, reply, longest=0) == 40
