"""Caches in cells: what they say at once, and what the context is told before a pass."""

from __future__ import annotations

import pytest

from split_server.llama.cells import CellCache, Cells


class Removed(list[tuple[int, int]]):
    """What the context was told to remove."""

    def __call__(self, sequence: int, start: int) -> None:
        self.append((sequence, start))


def _begun(cells: Cells, length: int) -> CellCache:
    cache = cells.new()
    assert isinstance(cache, CellCache)
    cells.begin(cache)
    cache.grown_to(length)
    return cache


def test_a_cache_counts_with_groups_of_its_cells() -> None:
    cells = Cells(1024, 100, 4)
    cache = _begun(cells, 33)
    assert (cache.length, cache.capacity, cache.allocated_bytes) == (33, 64, 6400)


def test_all_cells_can_be_one_sessions() -> None:
    cells = Cells(1000, 1, 4)
    assert cells.capacity_for(1000) == 1000
    assert cells.capacity_within(1000) == 1000
    assert cells.capacity_within(999) == 992


def test_more_than_all_cells_stays_more() -> None:
    assert Cells(256, 1, 4).capacity_for(300) >= 300


def test_a_cut_is_told_to_the_context_before_the_next_pass_and_once() -> None:
    cells, removed = Cells(1024, 1, 4), Removed()
    cache = _begun(cells, 50)
    cache.truncate(20)
    cache.truncate(30)
    assert cache.length == 20
    assert not removed
    cells.settle(removed)
    cells.settle(removed)
    assert removed == [(cache.sequence, 20)]


def test_a_released_cache_leaves_its_sequence_to_the_next() -> None:
    cells, removed = Cells(1024, 1, 1), Removed()
    first = _begun(cells, 50)
    first.release()
    assert first.allocated_bytes == 0
    second = cells.new()
    assert isinstance(second, CellCache)
    with pytest.raises(RuntimeError, match="every sequence"):
        cells.begin(second)
    cells.settle(removed)
    assert removed == [(0, 0)]
    assert first.sequence is None
    assert cells.begin(second) == 0


def test_a_cache_that_never_had_a_row_has_nothing_removed() -> None:
    cells, removed = Cells(1024, 1, 2), Removed()
    cells.new().release()
    cells.settle(removed)
    assert not removed


def test_a_cache_that_is_cut_to_nothing_goes_on_under_another_number() -> None:
    cells, removed = Cells(1024, 1, 2), Removed()
    cache = _begun(cells, 10)
    cache.truncate(0)
    cells.settle(removed)
    assert removed == [(0, 0)]
    assert cache.sequence is None
    cells.begin(cache)
    cache.grown_to(5)
    cells.settle(removed)
    assert removed == [(0, 0)]
