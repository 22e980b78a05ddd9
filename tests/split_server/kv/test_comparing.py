"""How far kept keys and values are from others."""

from __future__ import annotations

import math

import pytest
import torch

from split_server.kv.cache import KVCache
from split_server.kv.comparing import bound_for, largest_difference
from split_server.kv.copying import copied
from split_server.kv.run import Run, Span

LENGTH = 40


@pytest.fixture
def cache() -> KVCache:
    made = KVCache()
    for index in range(2):
        rows = torch.randn(1, 2, LENGTH, 8, generator=torch.Generator().manual_seed(index))
        made.layer(index).append(rows, rows + 1)
    made.grown_to(LENGTH)
    return made


def span(cache: KVCache) -> Span:
    layers, *_ = copied(cache, 0, LENGTH)
    return Span(Run("ann", 0, LENGTH, b"", {}, layers, None), 0, LENGTH)


def test_a_copy_is_no_way_off(cache: KVCache) -> None:
    assert largest_difference(cache, [span(cache)]) == 0.0


def test_one_wrong_value_shows_in_its_block_alone(cache: KVCache) -> None:
    known = span(cache)
    known.run.layers[1][0, 1, 35, 3] += 4.0
    right = cache.layers[1].keys[0, :, 32:]
    assert largest_difference(cache, [known]) == pytest.approx(4.0 / float(right.norm()))
    assert largest_difference(cache, [Span(known.run, 0, 32)]) == 0.0
    assert largest_difference(cache, [known], start=36) == 0.0


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_infinitely_far(cache: KVCache, value: float) -> None:
    known = span(cache)
    known.run.layers[0][1, 0, 0, 0] = value
    assert largest_difference(cache, [known]) == math.inf


def test_a_bound_grows_with_the_rounding_of_its_dtype() -> None:
    f32, f16, bf16 = map(bound_for, (torch.float32, torch.float16, torch.bfloat16))
    assert f32 < f16 < bf16 == bound_for(torch.float32, rounded=True)
