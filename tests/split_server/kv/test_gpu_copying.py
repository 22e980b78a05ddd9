"""Positions between a session on a GPU and the host; nothing to be seen where there is none."""

from __future__ import annotations

import pytest
import torch

from split_server.kv.cache import KVCache
from split_server.kv.copying import adopt, copied
from split_server.kv.run import Run, Span, slab_bytes

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
GPU = torch.device("cuda")


def filled(positions: int, layers: int = 3) -> KVCache:
    cache = KVCache()
    for index in range(layers):
        rows = torch.randn(2, 1, 2, positions, 24, device=GPU)
        cache.layer(index).append(rows[0], rows[1])
    cache.grown_to(positions)
    return cache


def run_of(cache: KVCache, start: int, end: int, parent: Run | None = None) -> Run:
    layers, done, _ = copied(cache, start, end)
    return Run("me", start, end, bytes(16 * (end - start)), {}, layers, parent, copied=done)


def assert_same(cache: KVCache, other: KVCache, end: int) -> None:
    for one, two in zip(cache.layers, other.layers, strict=True):
        assert torch.equal(one.keys[:, :, :end], two.keys[:, :, :end])
        assert torch.equal(one.values[:, :, :end], two.values[:, :, :end])


def test_what_is_copied_to_the_host_and_back_is_the_same() -> None:
    cache, other = filled(300), KVCache()
    first = run_of(cache, 0, 256)
    second = run_of(cache, 256, 300, first)
    second.wait()
    assert second.layers[0].is_pinned()
    assert torch.equal(second.layers[1][1], cache.layers[1].values[0, :, 256:300].cpu())
    adopt(other, 0, [Span(first, 0, 256), Span(second, 256, 290)], 1000, GPU)
    assert other.length == 290
    assert other.capacity >= 1000
    assert_same(other, cache, 290)


def test_a_part_is_taken_in_behind_what_a_session_holds() -> None:
    cache, other = filled(256), filled(100)
    for mine, theirs in zip(other.layers, cache.layers, strict=True):
        mine.keys.copy_(theirs.keys[:, :, :100])
        mine.values.copy_(theirs.values[:, :, :100])
    adopt(other, 40, [Span(run_of(cache, 0, 256), 0, 200)], 200, GPU)
    assert other.length == 200
    assert_same(other, cache, 200)


def test_pinned_memory_counts_as_the_power_of_two_that_it_takes() -> None:
    assert slab_bytes(1000, pinned=True) == 1024
    assert slab_bytes(1024, pinned=True) == 1024
    assert slab_bytes(1000, pinned=False) == 1000
    run = run_of(filled(10), 0, 10)
    assert run.size == slab_bytes(10 * 3 * 2 * 2 * 24 * 4, pinned=True) + 160
