"""Keys and values come back as they were, in any slicing."""

from __future__ import annotations

import pytest
import torch

from split_server.kv.cache import KVCache
from split_server.kv.copying import adopt, copied
from split_server.kv.run import Run, spans_to

HEADS, WIDTH, LAYERS = 2, 3, 3


def filled(length: int, dtype: torch.dtype = torch.float32) -> KVCache:
    generator = torch.Generator().manual_seed(length)
    cache = KVCache()
    for index in range(LAYERS):
        # A layer may have heads of its own.
        rows = torch.randn(2, 1, HEADS + index, length, WIDTH, generator=generator).to(dtype)
        cache.layer(index).append(rows[0], rows[1])
    cache.grown_to(length)
    return cache


def kept(cache: KVCache, *cuts: int) -> Run:
    """The last of the runs that end with each of ``cuts``."""
    parent, start = None, 0
    for end in cuts:
        layers, done = copied(cache, start, end)
        assert done is None
        parent = Run("ann", start, end, bytes(16 * (end - start)), {}, layers, parent)
        start = end
    assert parent is not None
    return parent


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_what_is_taken_in_is_what_was_kept(dtype: torch.dtype) -> None:
    cache = filled(300, dtype)
    last = kept(cache, 100, 256, 300)
    for start, end in ((0, 300), (0, 257), (99, 130), (100, 256), (270, 271)):
        other = KVCache()
        whole = kept(cache, 300)
        if start:
            adopt(other, 0, spans_to(whole, start), start)
        behind = [span for span in spans_to(last, 300) if span.end > start]
        cut = [span for span in behind if span.start < end]
        cut[-1] = spans_to(cut[-1].run, end)[-1]
        adopt(other, start, cut, end)
        assert other.length == end
        for mine, theirs in zip(other.layers, cache.layers, strict=True):
            assert torch.equal(mine.keys, theirs.keys[:, :, :end])
            assert torch.equal(mine.values, theirs.values[:, :, :end])


def test_room_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = filled(300)
    other = KVCache()
    adopt(other, 0, spans_to(kept(cache, 100, 200, 300), 300), 500)
    capacity = other.capacity
    assert capacity >= 500
    for layer, source in zip(other.layers, cache.layers, strict=True):
        layer.append(source.keys[:, :, :200], source.values[:, :, :200])
    assert other.capacity == capacity


def test_a_copy_that_fails_leaves_what_was_there(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, other = filled(64), filled(40)
    before = [layer.keys.clone() for layer in other.layers]

    def failing(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(other.layers[1], "append", failing)
    with pytest.raises(MemoryError):
        adopt(other, 32, spans_to(kept(cache, 64), 64), 64)
    assert [layer.get_seq_length() for layer in other.layers] == [32] * LAYERS
    for layer, rows in zip(other.layers, before, strict=True):
        assert torch.equal(layer.keys, rows[:, :, :32])
