"""Passes over slices of several sessions against the whole model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import Slice, padded
from split_server.engine.model.runner import ModelRunner
from split_server.errors import UnusableDevice
from split_server.kv.cache import KVCache
from tests import oracle
from tests.engines import tiny_backbone

IDS = list(range(7, 47))


def part(path: Path, cache: KVCache, start: int, ids: list[int]) -> Slice:
    return Slice(cache, start, oracle.embeddings(path, ids).clone())


def assert_same_logits(path: Path, hidden: torch.Tensor, wanted: torch.Tensor) -> None:
    """Float32 sums in another order differ in their last bits; logits here are of the order 10."""
    torch.testing.assert_close(oracle.head(path, hidden.clone()), wanted, atol=2e-4, rtol=1e-4)


def test_the_rows_of_a_prefill_give_the_logits_of_the_whole_model(family_path: Path) -> None:
    runner = ModelRunner(tiny_backbone(family_path))
    [hidden] = runner.run([part(family_path, KVCache(), 0, IDS)])
    assert_same_logits(family_path, hidden, oracle.logits(family_path, IDS))


def test_a_rolled_back_cache_continues_as_if_the_dropped_rows_never_were(family_path: Path) -> None:
    runner, cache = ModelRunner(tiny_backbone(family_path)), KVCache()
    runner.run([part(family_path, cache, 0, IDS)])
    edited = [*IDS[:11], 3, 4, 5]
    [hidden] = runner.run([part(family_path, cache, 11, edited[11:])])
    assert cache.length == len(edited)
    assert_same_logits(family_path, hidden, oracle.logits(family_path, edited)[11:])


def test_slices_of_one_pass_do_not_see_each_other(family_path: Path) -> None:
    runner = ModelRunner(tiny_backbone(family_path))
    texts = [IDS, [*reversed(IDS)], IDS[5:9], [3]]
    caches = [KVCache() for _ in texts]
    first = runner.run([part(family_path, c, 0, ids) for c, ids in zip(caches, texts, strict=True)])
    for ids, hidden in zip(texts, first, strict=True):
        assert_same_logits(family_path, hidden, oracle.logits(family_path, ids))
    more = [[9], IDS[:7], [11], IDS[20:22]]
    second = runner.run(
        [part(family_path, c, c.length, ids) for c, ids in zip(caches, more, strict=True)]
    )
    for before, ids, hidden in zip(texts, more, second, strict=True):
        wanted = oracle.logits(family_path, before + ids)[len(before) :]
        assert_same_logits(family_path, hidden, wanted)


def test_a_failing_pass_leaves_every_session_at_the_start_of_its_slice(tiny_path: Path) -> None:
    backbone = tiny_backbone(tiny_path)
    runner, caches = ModelRunner(backbone), [KVCache(), KVCache()]
    runner.run([part(tiny_path, cache, 0, IDS) for cache in caches])
    with pytest.raises(MemoryError):
        failing_after(backbone).run([part(tiny_path, cache, 20, IDS[:2]) for cache in caches])
    assert [cache.length for cache in caches] == [20, 20]
    for cache in caches:
        [hidden] = runner.run([part(tiny_path, cache, 20, IDS[20:])])
        assert_same_logits(tiny_path, hidden, oracle.logits(tiny_path, IDS)[20:])


def failing_after(backbone: Backbone) -> ModelRunner:
    """A runner whose pass writes its keys and values and then runs out of memory."""

    def module(**arguments: Any) -> None:
        backbone.module(**arguments)
        raise MemoryError

    return ModelRunner(replace(backbone, module=module))


def alone_and_in_company(path: Path, dtype: str, linears: str) -> Iterator[tuple[Any, Any]]:
    """Hidden states of decode steps by themselves, and beside up to five other sessions."""
    backbone = load_backbone(read_checkpoint(path, "tiny"), dtype, "cpu", linears=linears)
    runner = ModelRunner(backbone)
    alone, first = KVCache(), KVCache()
    others = [KVCache() for _ in range(5)]
    for cache in (alone, first, *others):
        prompt = part(path, cache, 0, IDS)
        runner.run([replace(prompt, embeddings=prompt.embeddings.to(backbone.dtype))])
    for token, company in zip(IDS[:6], range(6), strict=True):
        row = oracle.embeddings(path, [token]).clone().to(backbone.dtype)
        [own] = runner.run([Slice(alone, alone.length, row)])
        guests = [Slice(cache, cache.length, row.flip(1)) for cache in others[:company]]
        yield own, runner.run([Slice(first, first.length, row), *guests])[0]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_with_packed_matrices_a_decode_step_is_the_same_alone_and_in_company(
    tiny_path: Path, dtype: str
) -> None:
    try:
        for own, shared in alone_and_in_company(tiny_path, dtype, "packed"):
            assert torch.equal(own, shared)
    except UnusableDevice as error:
        pytest.skip(str(error))


def test_with_plain_matrices_a_decode_step_in_company_differs_in_its_last_bits_at_most(
    tiny_path: Path,
) -> None:
    for own, shared in alone_and_in_company(tiny_path, "float32", "plain"):
        torch.testing.assert_close(own, shared, atol=2e-5, rtol=1e-5)


def test_passes_come_in_few_sizes_and_waste_little() -> None:
    sizes = [padded(rows) for rows in range(1, 273)]
    assert all(size >= rows for rows, size in enumerate(sizes, start=1))
    assert len(set(sizes)) < 25
    assert all(size - rows < 8 for rows, size in enumerate(sizes[:64], start=1))
    assert all(size - rows < 16 for rows, size in enumerate(sizes, start=1))
