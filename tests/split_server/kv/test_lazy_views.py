"""Layers into whose buffers somebody else writes."""

from __future__ import annotations

import torch

from split_server.kv.cache import KVCache


def filled(positions: int) -> KVCache:
    cache = KVCache()
    rows = torch.arange(positions * 4.0).reshape(1, 1, positions, 4)
    for index in range(2):
        cache.layer(index).append(rows, -rows)
    cache.grown_to(positions)
    return cache


def test_rows_that_were_written_into_the_buffers_are_shown() -> None:
    cache = filled(30)
    cache.reserve(40)
    for layer in cache.layers:
        assert layer.buffers is not None
        assert layer.capacity >= 40
        layer.buffers[0][:, :, 30:33] = 7.0
        layer.buffers[1][:, :, 30:33] = 8.0
    cache.written(33)
    assert cache.length == 30
    cache.grown_to(33)
    assert cache.length == cache.get_seq_length() == 33
    for layer in cache.layers:
        assert layer.keys.shape == (1, 1, 33, 4)
        assert (layer.keys[0, 0, 30:] == 7.0).all()
        assert (layer.values[0, 0, 30:] == 8.0).all()
        assert layer.keys[0, 0, 29, 3] == 119.0


def test_a_cut_behind_written_rows_is_shown_and_appended_to() -> None:
    cache = filled(30)
    cache.reserve(31)
    cache.written(31)
    cache.truncate(10)
    assert cache.layers[0].keys.shape[2] == 10
    cache.layers[0].append(torch.full((1, 1, 1, 4), 5.0), torch.full((1, 1, 1, 4), 6.0))
    assert cache.layers[0].keys[0, 0, 10, 0] == 5.0
    assert cache.layers[0].values.shape[2] == 11


def test_of_what_is_hidden_no_room_is_made_and_nothing_is_shown() -> None:
    cache = filled(30)
    cache.hide(((4, 24),))
    # 32 rows of the buffers, of which 10 are held.
    cache.reserve(52)
    assert cache.layers[0].capacity == 32
    cache.written(31)
    assert cache.layers[0].keys.shape[2] == 11


def test_exchanges_tell_when_a_buffer_is_another_one() -> None:
    cache = filled(30)
    before = cache.exchanges
    cache.reserve(32)
    assert cache.exchanges == before
    cache.reserve(33)
    assert cache.exchanges == before + 2
    cache.release()
    assert cache.exchanges == before + 4
    assert cache.layers[0].keys is None


def test_buffers_are_made_like_rows_before_the_first_one() -> None:
    cache = KVCache()
    cache.layer(0).reserve(50)
    assert cache.layer(0).buffers is None
    cache.layer(0).reserve(50, torch.empty(1, 3, 1, 8))
    assert cache.layers[0].buffers is not None
    assert cache.layers[0].buffers[0].shape[1] == 3
    assert cache.layers[0].capacity >= 50
