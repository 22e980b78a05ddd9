"""A text that is forgotten takes its runs along, but for what other texts stand on."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
import torch

from split_server.kv.block_key import BLOCK
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run import Run, block_ends
from split_server.kv.run_pool import RunPool


def made(
    pool: RunPool, text: str, start: int, end: int, parent: Run | None = None, owner: str = "ann"
) -> Run:
    """A kept run of the positions from ``start`` to ``end``, whose values are the positions."""
    names = {at: name(text, at) for at in block_ends(start, end)}
    values = torch.arange(start, end, dtype=torch.float32)
    layers = [values.view(1, 1, -1, 1).expand(2, 3, -1, 4).clone() for _ in range(2)]
    digests = b"".join(at.to_bytes(16, "big") for at in range(start + 1, end + 1))
    run = Run(owner, start, end, digests, names, layers, parent)
    assert pool.add(run)
    return run


def name(text: str, at: int) -> bytes:
    return f"{text} {at}".encode().ljust(32)


def named(text: str, end: int, start: int = 0) -> list[bytes]:
    return [name(text, at) for at in range(start + 1, end + 1)]


def held(pool: RunPool, text: str, *ends: int) -> int:
    """Positions that are found of ``text``, whose prefixes of ``ends`` are asked for."""
    with pool.longest([name(text, at) for at in sorted(ends, reverse=True)]) as spans:
        at = 0
        for span in spans:
            assert span.start == at
            first = span.start - span.run.start
            last = span.end - span.run.start
            for layer in span.run.layers:
                wanted = torch.arange(span.start, span.end, dtype=torch.float32)
                assert torch.equal(layer[1, 2, first:last, 3], wanted)
            assert span.digests[-16:] == span.end.to_bytes(16, "big")
            at = span.end
        return at


@pytest.fixture
def pool() -> RunPool:
    return RunPool(PoolLimits())


def test_a_text_that_stands_alone_goes_whole(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    made(pool, "a", 64, 100, first)
    pool.cut("ann", named("a", 100))
    assert (len(pool), pool.held_bytes, pool.held_by("ann")) == (0, 0, 0)
    assert pool.evicted == {"forgotten": 2}


def test_what_another_text_goes_on_from_stays(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    made(pool, "a", 64, 128, first)
    made(pool, "b", 48, 80, first)
    pool.cut("ann", named("a", 128))
    assert held(pool, "b", 80) == 80
    assert held(pool, "a", 16, 32, 48, 64, 80, 128) == 48


def test_what_stays_takes_no_more_memory_than_it_needs(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    whole = pool.held_bytes
    branch = made(pool, "b", 16, 48, first)
    pool.cut("ann", named("a", 64))
    short = branch.parent
    assert short is not None
    assert (short.start, short.end, short.children) == (0, 16, 1)
    assert short.size <= first.size // 4 + 64
    assert pool.held_bytes == pool.held_by("ann") == short.size + branch.size < whole + branch.size
    assert short.layers[0].untyped_storage().nbytes() <= sum(each.nbytes for each in short.layers)


def test_of_what_stays_the_furthest_that_is_needed_is_kept(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    for start, text in ((16, "b"), (48, "c"), (32, "d")):
        made(pool, text, start, start + 32, first)
    pool.cut("ann", named("a", 64))
    assert [held(pool, text, at) for text, at in (("b", 48), ("c", 80), ("d", 64))] == [48, 80, 64]
    assert held(pool, "a", 16, 32, 48, 64) == 48


def test_after_the_last_that_stood_on_it_has_gone_the_rest_goes_too(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    made(pool, "b", 48, 80, first)
    pool.cut("ann", named("a", 64))
    pool.cut("ann", [*named("a", 48), *named("b", 80, 48)])
    assert (len(pool), pool.held_bytes) == (0, 0)


def test_a_text_that_only_begins_like_a_run_leaves_it_alone(pool: RunPool) -> None:
    first = made(pool, "a", 0, 128)
    size = first.size
    pool.cut("ann", named("a", 64))
    assert held(pool, "a", 128) == 128
    assert pool.held_bytes == size


def test_branches_that_were_cut_off_go_with_their_text(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    branch = made(pool, "old", 32, 96, first)
    made(pool, "old", 96, 120, branch)
    pool.cut("ann", [*named("a", 64), *named("old", 120, 32)])
    assert len(pool) == 0


def test_a_branch_whose_end_was_evicted_goes_as_well(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    made(pool, "old", 32, 96, first)
    pool.cut("ann", [*named("a", 64), *(name("old", at) for at in block_ends(32, 500))])
    assert len(pool) == 0


def test_runs_of_others_stay_and_so_does_what_they_stand_on(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    second = made(pool, "a", 64, 96, first, owner="bob")
    made(pool, "a", 96, 128, second)
    pool.cut("ann", named("a", 128))
    assert held(pool, "a", 128, 96) == 96


def test_a_little_more_than_what_was_named_goes_where_names_are_coarse(pool: RunPool) -> None:
    first = made(pool, "a", 0, 108)
    made(pool, "a", 108, 111, first)
    pool.cut("ann", [name("a", 96)], slack=BLOCK - 1)
    assert len(pool) == 0


def test_a_branch_at_a_coarse_name_that_goes_on_stays(pool: RunPool) -> None:
    first = made(pool, "a", 0, 96)
    made(pool, "b", 96, 128, first)
    pool.cut("ann", [name("a", 96)], slack=BLOCK - 1)
    assert held(pool, "b", 128) == 128


def test_whoever_reads_a_run_reads_it_to_the_end(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    made(pool, "b", 16, 48, first)
    with pool.longest([name("a", 64)]) as spans:
        pool.cut("ann", named("a", 64))
        assert spans[0].run is first
        assert first.layers[0].shape[2] == 64
    assert held(pool, "a", 16, 32, 64) == 16
    pool.bound(0)
    assert (len(pool), pool.held_bytes) == (0, 0)


def test_the_memory_of_what_goes_is_free_at_once(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64)
    made(pool, "b", 16, 48, first)
    layer = weakref.ref(first.layers[0])
    del first
    pool.cut("ann", named("a", 64))
    gc.collect()
    assert layer() is None


def test_without_memory_for_what_stays_nothing_is_found(
    pool: RunPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("split_server.kv.cutting.new_slab", failing)
    first = made(pool, "a", 0, 64)
    made(pool, "b", 16, 48, first)
    other = made(pool, "o", 0, 32)
    pool.cut("ann", named("a", 64))
    assert held(pool, "b", 48) == 0
    assert (len(pool), pool.held_bytes) == (1, other.size)


def test_runs_that_follow_those_of_a_principal_that_has_gone_go_too(pool: RunPool) -> None:
    first = made(pool, "a", 0, 64, owner="bob")
    made(pool, "a", 64, 96, first)
    kept = made(pool, "b", 0, 32)
    pool.forget(lambda owner: owner == "bob")
    assert (len(pool), pool.held_bytes, kept.children) == (1, kept.size, 0)


def test_others_may_use_the_pool_meanwhile(pool: RunPool) -> None:
    stop = threading.Event()
    failures: list[BaseException] = []

    def reading() -> None:
        try:
            while not stop.is_set():
                assert held(pool, "b", 48) in (0, 48)
                assert held(pool, "a", 16, 32, 48, 64) in (0, 16, 64)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    thread = threading.Thread(target=reading)
    thread.start()
    for _ in range(200):
        first = made(pool, "a", 0, 64)
        made(pool, "b", 16, 48, first)
        pool.cut("ann", named("a", 64))
        pool.cut("ann", [*named("a", 16), *named("b", 48, 16)])
    stop.set()
    thread.join()
    assert not failures
    assert pool.held_bytes == sum(run.size for run in pool._kept.runs)
