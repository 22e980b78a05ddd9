"""A cache knows its length and keeps exactly what it is told to."""

from __future__ import annotations

import torch

from split_server.kv.cache import KVCache


def cache_of(positions: int, layers: int = 2) -> KVCache:
    cache = KVCache()
    for layer in range(layers):
        rows = torch.arange(float(positions)).reshape(1, 1, positions, 1)
        cache.layers.update(rows, -rows, layer)
    cache.grown_to(positions)
    return cache


def test_a_new_cache_is_empty() -> None:
    assert len(KVCache()) == 0


def test_truncating_keeps_the_first_positions_of_every_layer() -> None:
    cache = cache_of(5)
    cache.truncate(3)
    assert len(cache) == 3
    assert cache.layers.get_seq_length() == 3
    for layer in cache.layers.layers:
        assert layer.keys.flatten().tolist() == [0, 1, 2]
        assert layer.values.flatten().tolist() == [0, -1, -2]


def test_truncating_to_more_than_is_held_keeps_everything() -> None:
    cache = cache_of(5)
    cache.truncate(9)
    assert len(cache) == 5


def test_truncating_an_empty_cache_is_harmless() -> None:
    cache = KVCache()
    cache.truncate(0)
    assert len(cache) == 0


def test_a_half_written_pass_is_cut_off_in_the_layers_it_reached() -> None:
    cache = cache_of(5)
    rows = torch.zeros(1, 1, 2, 1)
    cache.layers.update(rows, rows, 0)
    cache.truncate(5)
    assert len(cache) == 5
    assert {layer.keys.shape[-2] for layer in cache.layers.layers} == {5}
