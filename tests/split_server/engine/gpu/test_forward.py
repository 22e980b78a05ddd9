"""Passes on a CUDA device against the whole model; nothing to be seen where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import ModelRunner
from split_server.kv.cache import KVCache
from split_wire.attention import AttentionRequest
from tests import oracle
from tests.checkpoints import ALL_FAMILIES, tiny_checkpoint

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
IDS = [*range(7, 47)]


@pytest.fixture(scope="module", params=ALL_FAMILIES)
def any_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(request.param, tmp_path_factory.mktemp("gpu"))


def backbone_on_gpu(path: Path, dtype: str = "float32") -> Backbone:
    return load_backbone(read_checkpoint(path, path.name), dtype, "cuda")


def runner_on_gpu(path: Path, dtype: str = "float32") -> ModelRunner:
    from split_server.engine.gpu.forward import GpuForward

    backbone = backbone_on_gpu(path, dtype)
    return ModelRunner(backbone, forward=GpuForward(backbone))


def part(path: Path, cache: KVCache, start: int, ids: list[int], dtype: str = "float32") -> Slice:
    rows = oracle.embeddings(path, ids).clone().to("cuda", getattr(torch, dtype))
    return Slice(cache, start, rows)


def assert_same_logits(path: Path, hidden: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(oracle.head(path, hidden.cpu()), wanted, atol=5e-4, rtol=2e-4)


def test_tokens_of_sessions_side_by_side_are_those_of_generate(any_path: Path) -> None:
    runner = runner_on_gpu(any_path)
    prompts = [IDS, IDS[5:9], [3], [*reversed(IDS)]]
    wanted = [oracle.greedy(any_path, ids, 24) for ids in prompts]
    caches = [KVCache() for _ in prompts]
    states = runner.run([part(any_path, c, 0, ids) for c, ids in zip(caches, prompts, strict=True)])
    for index in range(24):
        picked = [oracle.head(any_path, rows[-1:].cpu())[0].argmax().item() for rows in states]
        for token, ids in zip(picked, wanted, strict=True):
            assert index >= len(ids) or token == ids[index]
        states = runner.run(
            [part(any_path, c, c.length, [int(t)]) for c, t in zip(caches, picked, strict=True)]
        )


def test_decode_rows_beside_a_prefill_and_watched_rows_are_those_of_the_model(
    any_path: Path,
) -> None:
    runner = runner_on_gpu(any_path)
    caches = [KVCache() for _ in range(4)]
    runner.run([part(any_path, cache, 0, IDS[:20]) for cache in caches])
    slices = [
        part(any_path, caches[0], 20, IDS[20:33]),
        part(any_path, caches[1], 20, [5]),
        part(any_path, caches[2], 20, [6]),
        part(any_path, caches[3], 20, [7]),
    ]
    slices[1].tap = runner.tap(AttentionRequest(), 21)
    hidden = runner.run(slices)
    for rows, new in zip(hidden, (IDS[20:33], [5], [6], [7]), strict=True):
        assert_same_logits(any_path, rows, oracle.logits(any_path, IDS[:20] + new)[20:])
    weights = slices[1].tap.rows().values
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]), atol=1e-4, rtol=0)


def test_watched_rows_are_reduced_to_one_on_the_device(any_path: Path) -> None:
    runner, caches = runner_on_gpu(any_path), [KVCache() for _ in range(2)]
    requests = (AttentionRequest(), AttentionRequest(top_k=5, layers=(1,), reduce="mean"))
    taps = []
    for cache, request in zip(caches, requests, strict=True):
        runner.run([part(any_path, cache, 0, IDS[:20])])
        last = part(any_path, cache, 20, [5])
        last.tap = runner.tap(request, 21)
        runner.run([last])
        taps.append(last.tap.rows())
    wanted = taps[0].values[1].mean(0).sort(descending=True).values[:5]
    torch.testing.assert_close(taps[1].values[0, 0], wanted, atol=1e-4, rtol=0)


def test_a_cache_that_is_cut_back_and_grows_again_goes_on_rightly(any_path: Path) -> None:
    runner, cache = runner_on_gpu(any_path), KVCache()
    ids = [(3 * at) % 60 for at in range(300)]
    runner.run([part(any_path, cache, 0, ids[:30])])
    for end in range(31, 70):
        [hidden] = runner.run([part(any_path, cache, end - 1, [ids[end - 1]])])
    assert_same_logits(any_path, hidden, oracle.logits(any_path, ids[:69])[-1:])
    [hidden] = runner.run([part(any_path, cache, 12, ids[:40])])
    assert_same_logits(any_path, hidden, oracle.logits(any_path, ids[:12] + ids[:40])[12:])
    assert cache.layers[0].keys.shape[2] == cache.length == 52


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_state_does_not_depend_on_how_many_others_decode(tmp_path: Path, dtype: str) -> None:
    path = tiny_checkpoint("llama", tmp_path)
    runner = runner_on_gpu(path, dtype)

    def decoded(others: int) -> torch.Tensor:
        caches = [KVCache() for _ in range(1 + others)]
        prompts = [IDS, *([7 + index, 9, 11] * 9 for index in range(others))]
        for cache, ids in zip(caches, prompts, strict=True):
            runner.run([part(path, cache, 0, ids, dtype)])
        states = [
            runner.run([part(path, cache, cache.length, [token], dtype) for cache in caches])[0]
            for token in (5, 6, 7)
        ]
        return torch.cat(states)

    alone = decoded(0)
    for others in (1, 5, 15):
        assert torch.equal(alone, decoded(others))


def test_a_session_that_ends_within_a_pass_of_many_is_not_written_by_the_next(
    tmp_path: Path,
) -> None:
    path = tiny_checkpoint("qwen2", tmp_path)
    runner, caches = runner_on_gpu(path), [KVCache() for _ in range(3)]
    runner.run([part(path, cache, 0, IDS) for cache in caches])
    runner.run([part(path, cache, 40, [5]) for cache in caches])
    kept = caches[2].layers[0].buffers
    assert kept is not None
    before = kept[0].clone()
    runner.run([part(path, cache, 41, [6]) for cache in caches[:2]])
    assert torch.equal(kept[0], before)
