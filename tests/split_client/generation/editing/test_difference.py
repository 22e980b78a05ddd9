"""What two sequences have in common, and how long finding it takes."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from split_client.generation.editing.difference import (
    MOST_RUNS,
    SHORTEST,
    Common,
    common_runs,
)
from split_client.generation.prefix import common_prefix


def text(count: int, seed: int = 0) -> list[int]:
    draw = random.Random(seed)  # noqa: S311 - tokens, not a secret
    return [draw.randrange(50_000) for _ in range(count)]


def checked(old: list[int], new: list[int]) -> list[Common]:
    """The runs, each of which is one, in order and apart from the others."""
    found, start = common_runs(old, new), common_prefix(old, new)
    last = Common(start, start, 0)
    for run in found:
        assert run.count >= SHORTEST
        assert old[run.old : run.old_end] == new[run.new : run.new_end]
        assert run.old >= last.old_end
        assert run.new >= last.new_end
        last = run
    return found


def test_a_line_that_changes_leaves_what_comes_behind_it() -> None:
    old = text(400)
    new = [*old[:50], 1, 2, 3, *old[58:]]
    assert checked(old, new) == [Common(58, 53, 342)]


def test_behind_what_changed_and_before_what_follows_it_is_found_in_the_middle() -> None:
    old = text(400)
    new = [*old[:50], *text(7, 1), *old[58:380], *text(40, 2)]
    assert checked(old, new) == [Common(58, 57, 322)]


def test_several_edits_leave_several_runs() -> None:
    old = text(600)
    new = [*old[:40], *old[90:200], *text(90, 1), *old[200:330], 5, *old[331:590]]
    assert checked(old, new) == [Common(90, 40, 110), Common(200, 240, 130), Common(331, 371, 259)]


def test_what_moved_forwards_is_found_once() -> None:
    old = text(300)
    new = [*old[:20], *old[160:300], *old[20:160]]
    assert sum(run.count for run in checked(old, new)) == 140


@pytest.mark.parametrize(
    ("old", "new"), [([], []), (text(9), []), ([], text(9)), (text(99), text(99)), ([1], [2])]
)
def test_where_nothing_lies_behind_a_change_there_is_no_run(old: list[int], new: list[int]) -> None:
    assert checked(old, new) == []


@given(st.lists(st.integers(0, 2), max_size=300), st.lists(st.integers(0, 2), max_size=300))
def test_whatever_the_tokens_are_runs_are_what_both_have(old: list[int], new: list[int]) -> None:
    checked(old, new)


@given(st.lists(st.integers(0, 400), min_size=3, max_size=6, unique=True), st.integers(0, 5))
def test_every_run_of_two_blocks_and_more_between_edits_is_found(
    cuts: list[int], inserted: int
) -> None:
    old, new, at, kept = text(401), list[int](), 0, 0
    for number, cut in enumerate(sorted(cuts)):
        new += [*old[at:cut], *(100_000 + number + i for i in range(inserted + 1))]
        kept += cut - at if number and cut - at >= SHORTEST else 0
        at = cut + 1
    new += old[at:]
    kept += len(old) - at if len(old) - at >= SHORTEST else 0
    assert sum(run.count for run in checked(old, new)) >= kept


def test_there_are_never_more_runs_than_a_splice_takes() -> None:
    old = text(40 * (MOST_RUNS + 50))
    new = list(old)
    for at in range(3, len(new), 40):
        new[at] = 99_999
    assert len(checked(old, new)) == MOST_RUNS


@pytest.mark.parametrize("kind", ["text", "one token", "short runs"])
def test_thirty_thousand_tokens_take_milliseconds(kind: str) -> None:
    old = [7] * 30_000 if kind == "one token" else text(30_000)
    new = [*old[:100], 1, *old[110:29_000], *text(900, 1)]
    if kind == "short runs":
        # Each longer than a block and too short to be kept.
        new = [token for at in range(0, 30_000, 31) for token in (*old[at : at + 30], 1)]
    began = time.process_time()
    checked(old, new)
    assert time.process_time() - began < 1.0
