"""Runs are found by their blocks' names, stay while they are needed, and keep to their bounds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from split_server.kv.block_key import BLOCK
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.pins import PinsFull
from split_server.kv.run import MOST_POSITIONS, Run, block_ends, pieces, spans_to
from split_server.kv.run_pool import RunPool

SIZE = 32 * (2 * 4 + 16) + 2 * 32


def run(text: str, parent: Run | None = None, owner: str = "ann", start: int | None = None) -> Run:
    """Thirty-two positions behind those of ``parent``, named by ``text``."""
    start = (0 if parent is None else parent.end) if start is None else start
    end = start + 2 * BLOCK
    names = {at: f"{text} {at}".encode().ljust(32) for at in block_ends(start, end)}
    layers = [torch.zeros(2, 1, end - start, 1)]
    return Run(owner, start, end, bytes(16 * (end - start)), names, layers, parent)


def name(made: Run, at: int | None = None) -> bytes:
    return made.names[made.end if at is None else at]


def found(pool: RunPool, *names: bytes) -> list[tuple[Run, int, int]]:
    with pool.longest(names) as spans:
        return [(span.run, span.start, span.end) for span in spans]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(clock: Clock) -> RunPool:
    return RunPool(PoolLimits(total=4 * SIZE, per_principal=3 * SIZE, ttl=10.0), clock)


def test_a_run_is_found_with_all_that_it_follows(pool: RunPool) -> None:
    first = run("a")
    second = run("b", first)
    assert pool.add(first)
    assert pool.add(second)
    assert found(pool, b"nobody's", name(second, 48)) == [(first, 0, 32), (second, 32, 48)]
    assert found(pool, name(first, 16)) == [(first, 0, 16)]
    assert found(pool, b"nobody's") == []


def test_a_run_may_follow_the_middle_of_another(pool: RunPool) -> None:
    first = run("a")
    branch = run("b", first, start=16)
    assert pool.add(first)
    assert pool.add(branch)
    assert found(pool, name(branch)) == [(first, 0, 16), (branch, 16, 48)]


def test_the_sizes_are_those_of_the_memory() -> None:
    made = run("a")
    assert made.size == SIZE


def test_what_is_known_is_not_kept_twice(pool: RunPool) -> None:
    assert pool.add(run("a"))
    assert not pool.add(run("a"))
    assert (len(pool), pool.held_bytes) == (1, SIZE)


def test_a_run_whose_parent_has_gone_is_not_kept(pool: RunPool) -> None:
    assert not pool.add(run("b", run("a")))
    assert pool.held_bytes == 0


def test_the_least_recently_used_leaf_goes_first(pool: RunPool) -> None:
    old, parent, other = run("old"), run("parent"), run("other", owner="bob")
    for made in (old, parent, run("child", parent), other):
        assert pool.add(made)
    found(pool, name(old))
    assert pool.add(run("new", owner="bob"))
    # The parent is older than all that is left, but it has a child.
    assert [bool(found(pool, name(each))) for each in (old, parent, other)] == [True, True, True]
    assert pool.evicted == {"room": 1}


def test_what_was_asked_for_by_name_counts_as_used(pool: RunPool, clock: Clock) -> None:
    old, other = run("old"), run("other")
    for made in (old, other):
        assert pool.add(made)
    clock.now = 8.0
    assert pool.use(name(old, 16))
    assert not pool.use(b"nobody's")
    pool.release(1)
    clock.now = 12.0
    pool.sweep()
    assert [pool.knows(name(each)) for each in (old, other)] == [True, False]


def test_who_has_his_share_makes_way_for_himself(pool: RunPool) -> None:
    mine = [run(text) for text in "abc"]
    other = run("o", owner="bob")
    for made in (other, *mine, run("d")):
        assert pool.add(made)
    assert found(pool, name(other))
    assert not found(pool, name(mine[0]))
    assert pool.held_by("ann") == 3 * SIZE
    assert pool.evicted == {"share": 1}


def test_what_the_new_run_follows_does_not_make_way_for_it(pool: RunPool) -> None:
    chain = [run("a")]
    for text in "bc":
        chain.append(run(text, chain[-1]))
    for made in chain:
        assert pool.add(made)
    assert not pool.add(run("d", chain[-1]))
    assert len(pool) == 3


def test_a_run_that_is_read_stays(pool: RunPool) -> None:
    first = run("a")
    pool.add(first)
    with pool.longest([name(first)]) as spans:
        pool.bound(0)
        assert [span.run for span in spans] == [first]
        assert pool.held_bytes == SIZE
    pool.bound(0)
    assert pool.held_bytes == 0


def test_less_memory_takes_leaves_until_it_is_enough(pool: RunPool) -> None:
    first = run("a")
    second = run("b", first)
    pool.add(first)
    pool.add(second)
    pool.bound(SIZE)
    assert (found(pool, name(second)), len(found(pool, name(first)))) == ([], 1)
    assert not pool.add(run("c")) or len(pool) == 1
    pool.release(1)
    assert len(pool) == 0


def test_what_nobody_used_for_long_goes(pool: RunPool, clock: Clock) -> None:
    first, second = run("a"), run("b")
    pool.add(first)
    pool.add(second)
    clock.now = 8.0
    found(pool, name(first))
    clock.now = 12.0
    pool.sweep()
    assert [bool(found(pool, name(each))) for each in (first, second)] == [True, False]
    assert pool.evicted == {"age": 1}


def test_a_principal_is_forgotten_whole(pool: RunPool) -> None:
    first = run("a")
    other = run("o", owner="bob")
    for made in (first, run("b", first), other):
        pool.add(made)
    with pool.longest([name(first)]):
        pool.forget(lambda owner: owner == "ann")
    assert (len(pool), pool.held_by("ann"), pool.held_bytes) == (1, 0, SIZE)
    assert found(pool, name(other))


def test_positions_are_cut_into_runs_at_whole_multiples() -> None:
    assert [*pieces(100, 600)] == [(100, 256), (256, 512), (512, 600)]
    assert [*pieces(0, MOST_POSITIONS)] == [(0, MOST_POSITIONS)]
    assert [*pieces(5, 5)] == []


def test_a_partial_block_is_named_by_its_own_end() -> None:
    assert block_ends(0, 40) == [16, 32, 40]
    assert block_ends(40, 64) == [48, 64]
    assert block_ends(33, 40) == [40]


def _ancestors(made: Run) -> Iterator[Run]:
    at = made.parent
    while at is not None:
        yield at
        at = at.parent


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "add", "add", "find", "bound", "forget"]),
            st.integers(0, 30),
            st.sampled_from(["ann", "bob"]),
        ),
        max_size=40,
    )
)
def test_whatever_happens_bounds_hold_and_no_run_stays_without_what_it_follows(
    moves: list[tuple[str, int, str]],
) -> None:
    limits = PoolLimits(total=6 * SIZE, per_principal=4 * SIZE)
    pool = RunPool(limits, lambda: 0.0)
    made: list[Run] = []
    bound = limits.total
    for index, (move, number, owner) in enumerate(moves):
        mine = [each for each in made if each.owner == owner]
        if move == "add":
            parent = mine[number % len(mine)] if mine and number % 3 else None
            new = run(str(index), parent, owner)
            pool.add(new)
            made.append(new)
        elif move == "find" and made:
            found(pool, name(made[number % len(made)]))
        elif move == "bound":
            bound = (number % 7) * SIZE
            pool.bound(bound)
        elif move == "forget":
            pool.forget(lambda name, owner=owner: name == owner)
        held = [each for each in made if pool.knows(name(each))]
        assert sum(each.size for each in held) == pool.held_bytes <= min(bound, limits.total)
        assert len(held) == len(pool)
        assert all(up in held for each in held for up in _ancestors(each))
        assert all(pool.held_by(owner) <= limits.per_principal for owner in ("ann", "bob"))
        for each in held:
            assert spans_to(each, each.end)[-1].run is each


def test_small_runs_are_bounded_in_number_and_one_principal_has_half_of_them() -> None:
    pool = RunPool(PoolLimits(runs=4), lambda: 0.0)
    other = run("o", owner="bob")
    for made in (other, *(run(text) for text in "abcd")):
        assert pool.add(made)
    assert found(pool, name(other))
    assert len(pool) == 3
    assert pool.evicted == {"share": 2}
    for text in "pq":
        assert pool.add(run(text, owner="eve"))
    assert len(pool) == 4
    assert pool.evicted == {"share": 2, "room": 1}


def test_no_more_makes_way_than_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[Run] = []
    pool = RunPool(PoolLimits(total=50 * SIZE), lambda: 0.0)
    for number in range(50):
        assert pool.add(run(str(number)))
    drop = pool._kept.drop
    monkeypatch.setattr(
        pool._kept, "drop", lambda each, why: (dropped.append(each), drop(each, why))
    )
    assert pool.add(run("new"))
    assert [each.names[32] for each in dropped] == [b"0 32".ljust(32)]


def test_a_pinned_run_is_not_old_and_makes_no_room_for_newer_ones(
    pool: RunPool, clock: Clock
) -> None:
    first = run("a")
    pinned = run("b", first)
    assert all(pool.add(each) for each in (first, pinned))
    assert pool.pin([b"nobody's", name(pinned)], most=2 * SIZE, seconds=60.0) == 64
    clock.now = 59.0
    pool.sweep()
    assert pool.add(run("c"))
    assert pool.add(run("d"))
    assert found(pool, name(pinned)) == [(first, 0, 32), (pinned, 32, 64)]
    clock.now = 61.0
    assert not pool.pinned_by()
    pool.sweep()
    assert pool.knows(name(pinned))
    clock.now = 80.0
    pool.sweep()
    assert len(pool) == 0


def test_each_run_is_counted_in_one_state(pool: RunPool) -> None:
    first = run("first")
    second, third = run("second", first), run("third")
    for made in (first, second, third):
        assert pool.add(made)
    assert pool.pin([name(third)], 1 << 30, 60)
    with pool.longest([name(second)]):
        assert pool.states() == {"read": 2, "pinned": 1}
    assert pool.states() == {"followed": 1, "idle": 1, "pinned": 1}


def test_memory_that_sessions_need_takes_pinned_runs_last(pool: RunPool) -> None:
    pinned, other = run("a"), run("b")
    assert pool.add(pinned)
    assert pool.pin([name(pinned)], most=2 * SIZE, seconds=60.0) == 32
    assert pool.add(other)
    pool.release(1)
    assert pool.knows(name(pinned))
    assert not pool.knows(name(other))
    pool.release(1)
    assert len(pool) == 0


def test_no_more_is_pinned_than_its_owner_may_or_than_half_of_all(pool: RunPool) -> None:
    runs = [run("a"), run("b"), run("c", owner="bob")]
    assert all(pool.add(each) for each in runs)
    assert pool.pin([name(runs[0])], most=SIZE, seconds=60.0)
    with pytest.raises(PinsFull) as refusal:
        pool.pin([name(runs[1])], most=SIZE, seconds=60.0)
    assert str(SIZE) in str(refusal.value)
    # A pin that goes on takes nothing more.
    assert pool.pin([name(runs[0])], most=SIZE, seconds=90.0)
    assert pool.pin([name(runs[2])], most=SIZE, seconds=60.0)
    assert pool.room_to_pin("eve", 2 * SIZE) == 0
    assert pool.pinned_by("ann") == pool.pinned_by("bob") == SIZE


def test_what_is_discarded_takes_all_that_follows_it_along(pool: RunPool) -> None:
    first = run("a")
    second = run("b", first)
    other = run("c")
    assert all(pool.add(each) for each in (first, second, other))
    with pool.longest([name(second)]):
        assert pool.discard([first]) == 2
    assert not pool.knows(name(second))
    assert pool.knows(name(other))
    assert pool.held_bytes == SIZE


def test_what_may_be_written_stands_for_what_may_not_and_both_go_when_they_are_cut(
    pool: RunPool,
) -> None:
    inner, lasting = run("a"), run("a")
    inner.to_disk = False
    assert pool.add(inner)
    assert pool.add(lasting)
    assert pool.find(name(lasting)) is lasting
    assert not pool.add(run("a"))
    pool.cut("ann", [name(lasting, at) for at in (16, 32)])
    assert len(pool) == 0
