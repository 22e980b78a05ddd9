"""Admission by the memory that is free."""

from __future__ import annotations

import pytest

from split_server.kv.cache import KVCache
from split_server.memory.limit import MemoryLimit, Room
from tests.split_server.memory.planning import ROW, SHAPE, Memory, grow, planner_with

_PLENTY = 1 << 40


def test_a_step_needs_its_buffers_its_rows_and_the_largest_pass() -> None:
    planner = planner_with(Memory(_PLENTY))
    plan = planner.plan
    forecast = planner.forecast(KVCache(), 100, 100)
    wanted = plan.cache_bytes(100) + plan.wire(100) + plan.largest_workspace(100)
    assert forecast.needed == wanted
    assert forecast.free == _PLENTY


def test_only_the_growth_of_a_cache_is_needed() -> None:
    planner, cache = planner_with(Memory(_PLENTY)), KVCache()
    grow(cache, 100)
    assert not planner.grows(cache, 128)
    assert planner.grows(cache, 129)
    needed = planner.forecast(cache, 129, 1).needed
    workspace = planner.plan.largest_workspace(129)
    growth = planner.plan.cache_bytes(129) - cache.allocated_bytes
    assert needed == growth + planner.plan.wire(1) + workspace


def test_admitted_steps_count_until_their_memory_is_taken() -> None:
    memory = Memory(100 * ROW * 100)
    planner, first = planner_with(memory), KVCache()
    planner.promise(first, 640, 0)
    before = planner.forecast(KVCache(), 32, 0).free
    assert before == memory.free - planner.plan.cache_bytes(640)
    grow(first, 640)
    memory.free -= first.allocated_bytes
    assert planner.forecast(KVCache(), 32, 0).free == before
    planner.settle(first)
    assert planner.forecast(KVCache(), 32, 0).free == before


def test_what_a_refusal_says_would_fit_fits_and_one_class_more_does_not() -> None:
    planner, cache = planner_with(Memory(3_000_000), reserve=100_000), KVCache()
    forecast = planner.forecast(cache, 4000, 256)
    assert forecast.needed > forecast.free
    error = planner.refusal(cache, 4000, 256, forecast)
    assert (error.positions, error.needed, error.free) == (4000, forecast.needed, forecast.free)
    assert 0 < error.fits < 4000
    rows = min(error.fits, 256)
    assert planner.forecast(cache, error.fits, rows).needed <= forecast.free
    assert planner.forecast(cache, error.fits + 1, rows).needed > forecast.free
    assert planner.refused == 1


def test_a_session_can_always_keep_what_it_has() -> None:
    memory, cache = Memory(_PLENTY), KVCache()
    planner = planner_with(memory)
    grow(cache, 100)
    memory.free = 0
    forecast = planner.forecast(cache, 1000, 1)
    assert planner.refusal(cache, 1000, 1, forecast).fits == 128


def test_recycled_buffers_count_as_free_and_make_way() -> None:
    memory = Memory(1000)
    planner, cache = planner_with(memory, idle=_PLENTY), KVCache()
    old = KVCache(planner.pool)
    grow(old, 100)
    size = old.allocated_bytes
    old.release()
    forecast = planner.forecast(cache, 32, 1)
    assert forecast.free == 1000 + size
    planner.keep_idle(forecast)
    assert planner.pool.idle_bytes <= max(forecast.free - forecast.needed, 0) < size


def test_the_workspace_follows_the_longest_cache() -> None:
    planner, long = planner_with(Memory(_PLENTY)), KVCache()
    alone = planner.forecast(KVCache(), 32, 1).needed
    planner.promise(long, 3000, 1)
    grow(long, 3000)
    beside = planner.forecast(KVCache(), 32, 1).needed
    more = planner.plan.largest_workspace(3000) - planner.plan.largest_workspace(32)
    assert beside - alone == more > 0


def test_a_correction_of_the_record_is_applied() -> None:
    planner = planner_with(Memory(_PLENTY))
    before = planner.workspace(3000)
    for _ in range(12):
        planner.record.add(growth=0, grown=0, workspace=10 << 20, peak=15 << 20)
    assert planner.workspace(3000) == pytest.approx(1.5 * before, abs=1)


def test_memory_that_runs_out_frees_what_is_idle_and_names_a_smaller_prompt() -> None:
    planner = planner_with(Memory(10_000_000), idle=_PLENTY)
    old = KVCache(planner.pool)
    grow(old, 100)
    old.release()
    error = planner.out_of_memory(2000)
    assert planner.pool.idle_bytes == 0
    assert planner.failed == 1
    assert error.positions == 2000
    assert error.fits < 2000
    assert error.needed > planner.plan.cache_bytes(2000)


def test_buffers_that_are_not_written_to_count_where_the_limit_has_not_seen_them() -> None:
    planner, cache = planner_with(Memory(0)), KVCache()
    planner.limit = MemoryLimit([lambda: Room(1_000_000, "resident")])
    planner.promise(cache, 100, 0)
    grow(cache, 100)
    assert cache.allocated_bytes == 128 * SHAPE.kv_bytes_per_position
    assert planner.room().free == 1_000_000 - 28 * ROW


def test_the_digests_of_a_steps_rows_are_planned() -> None:
    planner = planner_with(Memory(_PLENTY))
    rows = 5 * SHAPE.hidden_size * 4
    assert planner.plan.wire(100) >= 100 * (rows + 16)
