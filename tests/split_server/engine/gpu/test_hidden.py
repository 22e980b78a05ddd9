"""Rows behind hidden ones on a CUDA device, against Hugging Face with a mask."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_server.kv.lineage import Lineage
from split_wire.attention import AttentionRequest
from tests import oracle
from tests.checkpoints import ALL_FAMILIES, tiny_checkpoint
from tests.split_server.engine.gpu.test_forward import part, runner_on_gpu
from tests.split_server.engine.model.test_sight import HIDDEN, PROMPT, REPLY, Masked

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.fixture(scope="module", params=ALL_FAMILIES)
def any_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(request.param, tmp_path_factory.mktemp("gpu"))


def begun(path: Path) -> tuple[ModelRunner, KVCache]:
    runner, cache = runner_on_gpu(path), KVCache()
    runner.run([part(path, cache, 0, PROMPT)])
    return runner, cache


def logits(path: Path, states: torch.Tensor) -> torch.Tensor:
    return oracle.head(path, states.cpu().clone())


def test_tokens_behind_hidden_rows_are_those_of_a_mask_beside_others(any_path: Path) -> None:
    runner, cache = begun(any_path)
    masked, other = Masked(any_path), KVCache()
    masked.logits(PROMPT)
    masked.hide(HIDDEN)
    runner.run([part(any_path, other, 0, PROMPT[:9])])
    cache.hide(HIDDEN)
    ids = [3]
    for wanted in masked.greedy([3], REPLY):
        slices = [part(any_path, c, c.length, new) for c, new in ((cache, ids), (other, [5]))]
        ids = [int(logits(any_path, runner.run(slices)[0])[-1].argmax())]
        assert ids == [wanted]
    assert cache.lineage != Lineage()


def test_several_rows_at_once_see_what_a_mask_leaves(any_path: Path) -> None:
    runner, cache = begun(any_path)
    masked = Masked(any_path)
    masked.logits(PROMPT)
    masked.hide(HIDDEN)
    cache.hide(HIDDEN)
    for ids in ([9, 8, 7, 6], PROMPT[::-1], [5]):
        found = logits(any_path, runner.run([part(any_path, cache, cache.length, ids)])[0])
        torch.testing.assert_close(found, masked.logits(ids).logits[0], atol=5e-4, rtol=2e-4)


def test_what_is_shown_again_is_what_it_was_bit_for_bit(any_path: Path) -> None:
    runner, cache = begun(any_path)
    before = [cache.rows(index, 0, 40) for index in range(cache.depth)]
    before = [(keys.clone(), values.clone()) for keys, values in before]
    cache.hide(HIDDEN)
    runner.run([part(any_path, cache, 40, [5])])
    cache.hide(())
    for index, (keys, values) in enumerate(before):
        again = cache.rows(index, 0, 40)
        assert torch.equal(again.keys, keys)
        assert torch.equal(again.values, values)


def test_attention_that_is_watched_shows_nothing_of_what_is_hidden(any_path: Path) -> None:
    runner, cache = begun(any_path)
    cache.hide(HIDDEN)
    watched = part(any_path, cache, 40, [5])
    watched.tap = runner.tap(AttentionRequest(), 41)
    runner.run([Slice(cache, 40, watched.embeddings, watched.tap)])
    weights = watched.tap.rows().values
    for start, end in HIDDEN:
        assert not weights[..., start:end].any()
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]), atol=1e-4, rtol=0)
