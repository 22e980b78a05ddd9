"""A cache knows its length and keeps exactly what it is told to."""

from __future__ import annotations

import gc
import weakref

import torch
from transformers import DynamicCache

from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache


def cache_of(positions: int, layers: int = 2, pool: BufferPool | None = None) -> KVCache:
    cache = KVCache(pool)
    for layer in range(layers):
        rows = torch.arange(float(positions)).reshape(1, 1, positions, 1)
        cache.update(rows, -rows, layer)
    cache.grown_to(positions)
    return cache


def test_a_new_cache_is_empty() -> None:
    assert len(KVCache()) == 0


def test_truncating_keeps_the_first_positions_of_every_layer() -> None:
    cache = cache_of(5)
    cache.truncate(3)
    assert cache.length == 3
    assert cache.get_seq_length() == 3
    for layer in cache.layers:
        assert layer.keys.flatten().tolist() == [0, 1, 2]
        assert layer.values.flatten().tolist() == [0, -1, -2]


def test_truncating_to_more_than_is_held_keeps_everything() -> None:
    cache = cache_of(5)
    cache.truncate(9)
    assert cache.length == 5


def test_truncating_an_empty_cache_is_harmless() -> None:
    cache = KVCache()
    cache.truncate(0)
    assert cache.length == 0


def test_a_user_of_transformers_sees_a_dynamic_cache() -> None:
    cache = cache_of(3, layers=2)
    assert isinstance(cache, DynamicCache)
    assert (len(cache), cache.get_seq_length(), cache.length) == (2, 3, 3)


def test_what_a_user_of_transformers_does_to_it_keeps_its_length_true() -> None:
    cache = cache_of(5)
    cache.crop(-2)
    assert (cache.length, cache.get_seq_length()) == (3, 3)
    cache.reset()
    assert (cache.length, cache.get_seq_length(), cache.allocated_bytes) == (0, 0, 0)


def test_a_half_written_pass_is_cut_off_in_the_layers_it_reached() -> None:
    cache = cache_of(5)
    rows = torch.zeros(1, 1, 2, 1)
    cache.update(rows, rows, 0)
    cache.truncate(5)
    assert cache.length == 5
    assert {layer.keys.shape[-2] for layer in cache.layers} == {5}


def test_a_layer_is_the_one_that_hugging_face_updates() -> None:
    cache = cache_of(5)
    assert cache.layer(1) is cache.layers[1]
    new = cache.layer(3)
    rows = torch.zeros(1, 1, 2, 1)
    cache.update(rows, rows, 3)
    assert new.get_seq_length() == 2


def test_capacity_and_bytes_are_those_of_the_buffers() -> None:
    assert (KVCache().capacity, KVCache().allocated_bytes) == (0, 0)
    cache = cache_of(40)
    assert cache.capacity == 64
    assert cache.allocated_bytes == 2 * 2 * 64 * 4
    cache.truncate(2)
    assert cache.allocated_bytes == 2 * 2 * 64 * 4


def test_capacity_is_what_every_layer_has() -> None:
    cache = cache_of(30)
    rows = torch.zeros(1, 1, 30, 1)
    cache.update(rows, rows, 0)
    assert cache.capacity == 32


def test_a_released_cache_is_empty_and_may_be_used_again() -> None:
    pool = BufferPool(1 << 20)
    cache = cache_of(40, pool=pool)
    held = cache.allocated_bytes
    for _ in range(2):
        cache.release()
        assert (cache.length, cache.capacity, cache.allocated_bytes) == (0, 0, 0)
        assert cache.get_seq_length() == 0
        assert pool.idle_bytes == held
    rows = torch.ones(1, 1, 50, 1)
    keys, _ = cache.update(rows, rows, 0)
    assert torch.equal(keys, rows)
    assert pool.idle_bytes == held // 2


def test_releasing_a_cache_that_never_held_anything_is_harmless() -> None:
    cache = KVCache(BufferPool(1 << 20))
    cache.release()
    assert cache.length == 0


def on_a_base(positions: int, shared: int) -> tuple[KVCache, KVCache]:
    """A cache of so many positions of which the first lie in another one, and that one."""
    base, cache = cache_of(shared), cache_of(positions)
    cache.share(base, shared)
    return cache, base


def held(cache: KVCache, start: int, end: int) -> list[list[float]]:
    return [cache.rows(layer, start, end).keys.flatten().tolist() for layer in range(2)]


def test_what_several_caches_share_takes_no_space_in_them() -> None:
    alone = cache_of(100).allocated_bytes
    cache, base = on_a_base(100, 90)
    assert cache.length == 100
    assert cache.allocated_bytes < alone / 2
    assert [*base.users] == [cache]
    assert held(cache, 88, 92) == [[88, 89, 90, 91]] * 2


def test_rows_behind_what_is_shared_are_appended_and_truncated_as_ever() -> None:
    cache, _ = on_a_base(6, 4)
    row = torch.full((1, 1, 1, 1), 50.0)
    for layer in range(2):
        keys, values = cache.append(layer, row, -row)
        assert keys.flatten().tolist() == [0, 1, 2, 3, 4, 5, 50]
        assert values.flatten().tolist()[-1] == -50
    cache.grown_to(7)
    cache.truncate(5)
    assert held(cache, 0, 5) == [[0, 1, 2, 3, 4]] * 2


def test_truncating_into_what_is_shared_leaves_it_to_the_others() -> None:
    cache, base = on_a_base(6, 4)
    other = cache_of(5)
    other.share(base, 4)
    cache.truncate(2)
    row = torch.full((1, 1, 1, 1), 70.0)
    for layer in range(2):
        cache.append(layer, row, row)
    cache.grown_to(3)
    assert held(cache, 0, 3) == [[0, 1, 70]] * 2
    assert held(other, 0, 5) == [[0, 1, 2, 3, 4]] * 2


def test_a_cache_that_stops_sharing_holds_the_same_rows() -> None:
    cache, base = on_a_base(6, 4)
    cache.unshare()
    assert not base.users
    assert cache.shared == 0
    for layer in cache.layers:
        assert layer.keys.flatten().tolist() == [0, 1, 2, 3, 4, 5]
        assert layer.values.flatten().tolist() == [0, -1, -2, -3, -4, -5]


def test_a_released_cache_uses_nothing_of_another_any_more() -> None:
    for end in (lambda cache: cache.release(), lambda cache: cache.truncate(0)):
        cache, base = on_a_base(6, 4)
        end(cache)
        assert not base.users
        assert cache.length == cache.shared == 0


def test_a_cache_that_nobody_holds_is_gone_without_a_collection() -> None:
    gc.disable()
    try:
        cache = cache_of(3)
        gone = weakref.ref(cache)
        del cache
        assert gone() is None
    finally:
        gc.enable()
