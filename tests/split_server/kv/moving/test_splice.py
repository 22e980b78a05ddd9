"""Rows that are lifted out of a cache and put down elsewhere, wherever they lie."""

from __future__ import annotations

import pytest
import torch

from split_server.kv.cache import KVCache
from split_server.kv.moving.rotate import KeyRotation, Rope
from split_server.kv.moving.splice import cut, lifted, lifted_bytes, put_down
from split_wire.splice import Kept
from split_wire.tiers import Inexact

LAYERS, HEADS, WIDTH, LENGTH = 2, 2, 8, 60
HOST = torch.device("cpu")


def angles(positions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    turned = positions[..., None].float() * torch.tensor([1.0, 0.3, 0.1, 0.01])
    turned = torch.cat((turned, turned), -1)
    return turned.cos(), turned.sin()


# The second layer has no rope.
ROTATION = KeyRotation([Rope(angles), None], HOST)


def rows(count: int, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 1, HEADS, count, WIDTH, generator=generator) for _ in range(LAYERS)]


def filled(*, shared: int = 0) -> KVCache:
    """A cache with rows, of which the first so many lie in another one."""
    cache, made = KVCache(), rows(LENGTH)
    if shared:
        base = KVCache()
        for index, (keys, values) in enumerate(made):
            base.layer(index).append(keys[:, :, :shared], values[:, :, :shared])
        base.grown_to(shared)
        cache.share(base, shared)
    for index, (keys, values) in enumerate(made):
        cache.layer(index).append(keys[:, :, shared:], values[:, :, shared:])
    cache.grown_to(LENGTH)
    return cache


@pytest.mark.parametrize("shared", [0, 6, 20, 40])
def test_rows_are_put_down_with_their_keys_turned_and_their_values_as_they_are(
    shared: int,
) -> None:
    cache, made, spans = filled(shared=shared), rows(LENGTH), [Kept(14, 12, 20), Kept(36, 33, 24)]
    copies = lifted(cache, spans, ROTATION)
    cut(cache, 10, 57)
    between = rows(3, seed=1)
    for count, copy in zip((2, 1), copies, strict=True):
        for index, (keys, values) in enumerate(between):
            cache.layer(index).append(keys[:, :, :count], values[:, :, :count])
        cache.grown_to(cache.length + count)
        put_down(cache, copy, 57)
    assert cache.length == 57
    for index in range(LAYERS):
        first = cache.rows(index, 0, 10)
        assert torch.equal(first.keys, made[index][0, 0, :, :10])
        for span in spans:
            old = slice(span.old, span.old + span.rows)
            found = cache.rows(index, span.new, span.new + span.rows)
            wanted = ROTATION.move(*span)(index, made[index][0, 0, :, old])
            assert torch.equal(found.keys, wanted)
            assert torch.equal(found.values, made[index][1, 0, :, old])
    assert cache.lineage.inexact(57) == Inexact(approximate=45)


def test_what_is_lifted_does_not_change_with_the_cache() -> None:
    cache = filled()
    [copy] = lifted(cache, [Kept(14, 14, 20)], ROTATION)
    before = [part.clone() for layer in copy.layers for part in layer]
    for layer in cache.layers:
        layer.keys.zero_()
        layer.values.zero_()
    after = [part for layer in copy.layers for part in layer]
    assert all(map(torch.equal, before, after))


def test_its_bytes_are_those_that_are_counted_before() -> None:
    cache, spans = filled(), [Kept(14, 12, 20), Kept(36, 33, 24)]
    copies = lifted(cache, spans, ROTATION)
    size = sum(part.nbytes for copy in copies for layer in copy.layers for part in layer)
    assert lifted_bytes(cache, spans) == size


def test_rows_are_put_down_in_their_place_alone() -> None:
    cache = filled()
    [copy] = lifted(cache, [Kept(14, 12, 20)], ROTATION)
    cut(cache, 10, 40)
    with pytest.raises(RuntimeError, match="10 positions lie before those at 12"):
        put_down(cache, copy, 40)
    assert (cache.length, cache.lineage.tier) == (10, "exact")


def test_a_rotation_of_another_model_moves_nothing() -> None:
    with pytest.raises(RuntimeError, match="layers"):
        lifted(filled(), [Kept(14, 12, 20)], KeyRotation([None], HOST))


def test_room_for_what_comes_is_kept_when_a_cache_is_cut() -> None:
    cache = filled()
    before = cache.exchanges
    cut(cache, 1, LENGTH)
    for index, (keys, values) in enumerate(rows(LENGTH - 1)):
        cache.layer(index).append(keys, values)
    assert cache.exchanges == before
