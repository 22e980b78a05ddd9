from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from split_server.adapters.folder import open_adapters
from split_server.engine.engine import Engine
from split_server.engine.job import StepJob
from split_server.engine.model.delta import Delta
from split_server.kv.cache import KVCache
from split_wire.tensor import Tensor
from tests import oracle
from tests.adapted import reference, write_adapter
from tests.engines import HeldRunner, run, submit, tiny_backbone

HIDDEN = 64
SCALE = 0.5


def delta(folder: Path, seed: int) -> tuple[Delta, torch.Tensor, torch.Tensor]:
    a, b = write_adapter(folder / f"a{seed}" / "x", HIDDEN, seed=seed, scale=SCALE)
    return Delta.of(open_adapters(folder / f"a{seed}", HIDDEN)["x"]), a, b


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float32, 2e-6), (torch.bfloat16, 2**-8), (torch.float16, 2**-11)],
)
def test_the_delta_is_computed_in_float32_and_rounded_once(
    tmp_path: Path, dtype: torch.dtype, tolerance: float
) -> None:
    apply, a, b = delta(tmp_path, 1)
    hidden = torch.randn(9, HIDDEN, generator=torch.Generator().manual_seed(2)).to(dtype)
    got = apply(hidden)
    assert got.dtype == dtype
    expected = reference(hidden.float().numpy(), a, b, SCALE)
    np.testing.assert_allclose(got.float().numpy(), expected, rtol=tolerance, atol=1e-6)


def test_sessions_with_different_adapters_share_a_pass(tiny_path: Path, tmp_path: Path) -> None:
    """Each gets its own adapter on every row, and the cache is that of the model alone."""
    backbone = tiny_backbone(tiny_path)
    runner = HeldRunner(backbone)
    engine = Engine(runner, backbone.info)
    engine.start()
    adapters = [delta(tmp_path, 1), delta(tmp_path, 2), None]
    prompts = [[11, 12, 13], [14, 15, 16, 17], [18, 19]]

    def asked(cache: KVCache, start: int, ids: list[int], adapter: Delta | None) -> Any:
        rows = Tensor.from_f32(oracle.embeddings(tiny_path, ids).numpy(), "f32")
        return submit(engine, StepJob(cache, start, rows, "all", "f32", adapter=adapter))

    blocker = asked(KVCache(), 0, [1], None)
    assert runner.begun.acquire(timeout=30)
    caches = [KVCache() for _ in prompts]
    waiting = [
        asked(cache, 0, ids, None if made is None else made[0])
        for cache, ids, made in zip(caches, prompts, adapters, strict=True)
    ]
    runner.gate.release(2)
    results = [step.result(30) for step in waiting]
    blocker.result(30)
    assert runner.runs == 2
    for ids, made, result in zip(prompts, adapters, results, strict=True):
        hidden = oracle.model(tiny_path).model(torch.tensor([ids])).last_hidden_state[0]
        expected = hidden.detach().numpy()
        if made is not None:
            expected = reference(expected, made[1], made[2], SCALE)
        np.testing.assert_allclose(result.hidden.to_f32(), expected, rtol=1e-3, atol=1e-3)
    runner.gate.release(4)
    # The next token without an adapter is that of a chat that never had one.
    later = asked(caches[0], 3, [20], None).result(30)
    token = int(oracle.head(tiny_path, torch.from_numpy(later.hidden.to_f32().copy()))[0].argmax())
    assert token == int(oracle.logits(tiny_path, [*prompts[0], 20])[-1].argmax())
    run(engine.stop())
