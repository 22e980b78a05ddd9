"""What is hidden comes back bit for bit, whatever is done in between."""

from __future__ import annotations

import random

import pytest
import torch

from split_server.kv.buffers import BufferPool
from split_server.kv.cache import KVCache
from split_server.kv.copying import copied
from split_wire.hiding.spans import Spans, count, cut, gaps, union, without

LAYERS, HEADS, WIDTH = 2, 2, 3


def rows(chance: torch.Generator, positions: int) -> torch.Tensor:
    """Keys and values of every layer, [LAYERS, 2, 1, HEADS, positions, WIDTH]."""
    return torch.randn(LAYERS, 2, 1, HEADS, positions, WIDTH, generator=chance)


def append(cache: KVCache, new: torch.Tensor) -> None:
    for index, (keys, values) in enumerate(new):
        cache.append(index, keys, values)
    cache.grown_to(cache.length + new.shape[4])


def filled(positions: int, pool: BufferPool | None = None) -> tuple[KVCache, torch.Tensor]:
    cache, new = KVCache(pool), rows(torch.Generator().manual_seed(positions), positions)
    append(cache, new)
    return cache, new


def held(cache: KVCache) -> torch.Tensor:
    """All rows, hidden or not, as :func:`rows` has them."""
    layers = [cache.rows(index, 0, cache.length) for index in range(LAYERS)]
    return torch.stack([torch.stack([layer.keys, layer.values]) for layer in layers])[:, :, None]


def seen(cache: KVCache) -> torch.Tensor:
    """The rows that attention sees."""
    return torch.stack([torch.stack([layer.keys, layer.values]) for layer in cache.layers])


def places(spans: Spans) -> list[int]:
    return [position for start, end in spans for position in range(start, end)]


def test_the_layers_hold_what_is_seen_and_show_brings_the_rest_back() -> None:
    cache, all_rows = filled(100)
    before = seen(cache).clone()
    cache.hide(((4, 40), (50, 51)))
    assert torch.equal(seen(cache), all_rows[..., places(gaps(cache.hidden, 100)), :])
    assert torch.equal(held(cache), all_rows)
    cache.hide(())
    assert torch.equal(seen(cache), before)
    assert cache.cold_bytes == 0


def test_whatever_is_done_in_between() -> None:
    draw = random.Random(7)  # noqa: S311 - whatever is done, not a secret
    chance = torch.Generator().manual_seed(7)
    # Buffers that are given back are filled with NaN.
    cache, truth = KVCache(BufferPool(1 << 20, poison=True)), rows(chance, 0)
    hidden: Spans = ()
    for _ in range(600):
        length = cache.length
        match draw.choice(("append", "append", "hide", "hide", "show", "cut")):
            case "append":
                new = rows(chance, draw.randint(1, 40))
                append(cache, new)
                truth = torch.cat((truth, new), 4)
            case "cut":
                length = draw.randint(max(0, length - 40), length)
                cache.truncate(length)
                truth, hidden = truth[..., :length, :], cut(hidden, length)
            case what if length > 8:
                start = draw.randint(4, length - 2)
                span = ((start, draw.randint(start + 1, length)),)
                hidden = union(hidden, span) if what == "hide" else without(hidden, span)
                cache.hide(hidden)
        assert cache.hidden == hidden
        assert cache.capacity >= cache.length == truth.shape[4]
        if cache.length:
            assert torch.equal(held(cache), truth)
            assert torch.equal(seen(cache), truth[..., places(gaps(hidden, cache.length)), :])
            assert cache.own(cache.length) == cache.length - count(hidden)


def test_what_is_kept_of_a_session_is_all_of_it() -> None:
    cache, all_rows = filled(40)
    cache.hide(((5, 20), (30, 33)))
    kept = copied(cache, 3, 32).layers
    assert torch.equal(torch.stack(kept), all_rows[:, :, 0, :, 3:32])


def test_all_bytes_are_counted_and_those_to_come_are_told_before() -> None:
    cache, _ = filled(1000)
    each = LAYERS * 2 * HEADS * WIDTH * 4
    spans: Spans = ((4, 504),)
    told = cache.hiding_bytes(spans)
    cache.hide(spans)
    assert cache.cold_bytes == 500 * each
    assert cache.allocated_bytes == told
    buffers = sum(buffer.nbytes for layer in cache.layers for buffer in layer.buffers or ())
    assert cache.allocated_bytes == buffers + cache.cold_bytes


@pytest.mark.parametrize("failing", range(1, 5))
def test_memory_that_is_not_there_changes_nothing(
    failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, all_rows = filled(60)
    cache.hide(((10, 20),))
    before, taken, take = seen(cache).clone(), 0, BufferPool.take

    def short(*arguments: object) -> torch.Tensor:
        nonlocal taken
        taken += 1
        if taken == failing:
            raise MemoryError
        return take(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(BufferPool, "take", short)
    with pytest.raises(MemoryError):
        cache.hide(((10, 30),))
    monkeypatch.undo()
    assert cache.hidden == ((10, 20),)
    assert torch.equal(seen(cache), before)
    assert torch.equal(held(cache), all_rows)


def test_a_cache_that_stands_on_another_has_rows_of_its_own_once_some_are_hidden() -> None:
    base, first = filled(64)
    cache = KVCache()
    cache.share(base, 64)
    new = rows(torch.Generator().manual_seed(3), 10)
    append(cache, new)
    cache.hide(((8, 66),))
    assert cache.base is None
    assert not base.users
    assert torch.equal(held(cache), torch.cat((first, new), 4))
