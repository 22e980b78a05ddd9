"""Keys and values come back as they were, in any slicing."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from split_server.kv.cache import KVCache
from split_server.kv.copying import adopt, copied, copied_bytes
from split_server.kv.run import Run, spans_to
from split_wire.tiers import Inexact, Tier

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


def kept(cache: KVCache, *cuts: int, tier: Tier = "exact") -> Run:
    """The last of the runs that end with each of ``cuts``."""
    parent, start = None, 0
    for end in cuts:
        made = copied(cache, start, end, quantised=tier != "exact")
        assert made.done is None
        parent = Run("ann", start, end, bytes(16 * (end - start)), {}, made.layers, parent)
        if tier != "exact":
            parent = replace(
                parent, tier=tier, scales=[*made.scales], expands_to=cache.layers[0].keys.dtype
            )
        tensors = parent.size - 16 * (end - start)
        assert tensors == copied_bytes(cache, start, end, quantised=tier != "exact")
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


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_whole_numbers_are_taken_in_near_the_rows_and_marked(dtype: torch.dtype) -> None:
    cache, other = filled(300, dtype), KVCache()
    exact, coded = kept(cache, 90), kept(cache, 100, 256, 300, tier="int8")
    adopt(other, 0, spans_to(exact, 90), 90)
    assert other.lineage.tier == "exact"
    behind = [span for span in spans_to(coded, 290) if span.end > 90]
    adopt(other, 90, behind, 320)
    assert other.length == 290
    assert other.lineage.inexact(290) == Inexact(200)
    for mine, theirs in zip(other.layers, cache.layers, strict=True):
        assert mine.keys.dtype == dtype
        assert torch.equal(mine.keys[:, :, :90], theirs.keys[:, :, :90])
        for one, right in ((mine.keys, theirs.keys), (mine.values, theirs.values)):
            torch.testing.assert_close(one, right[:, :, :290], rtol=1e-2, atol=2e-2)
    other.truncate(90)
    assert other.lineage.tier == "exact"


def test_whole_numbers_that_cannot_be_taken_in_leave_what_was_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache, other = filled(64), filled(40)
    before = [layer.keys.clone() for layer in other.layers]

    def failing(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(other.layers[1], "reserve", failing)
    with pytest.raises(MemoryError):
        adopt(other, 32, spans_to(kept(cache, 64, tier="int8"), 64), 64)
    assert [layer.get_seq_length() for layer in other.layers] == [32] * LAYERS
    assert other.lineage.tier == "exact"
    for layer, rows in zip(other.layers, before, strict=True):
        assert torch.equal(layer.keys, rows[:, :, :32])
