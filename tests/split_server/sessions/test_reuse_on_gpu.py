"""Sessions on a CUDA device, and what is kept of them; nothing to be seen where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
import torch

from split_server.checkpoint.folder import read_checkpoint
from split_server.engine.model.loader import load_backbone
from split_server.engine.model.runner import ModelRunner
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.audit import Audit
from split_server.sessions.reuse import Reuse
from tests import oracle
from tests.checkpoints import ALL_FAMILIES, tiny_checkpoint
from tests.engines import Device, TinySessions, serving

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
PROMPT = [11 + i % 60 for i in range(300)]
COUNT = 12


@pytest.fixture(scope="module", params=ALL_FAMILIES)
def any_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(request.param, tmp_path_factory.mktemp("gpu"))


@asynccontextmanager
async def keeping(
    path: Path, dtype: str = "float32", share: float = 0.0
) -> AsyncIterator[TinySessions]:
    """A service on the GPU that keeps what its sessions compute; ``share`` of it is audited."""
    from split_server.engine.gpu.forward import GpuForward

    backbone = load_backbone(read_checkpoint(path, path.name), dtype, "cuda")
    pool = RunPool(PoolLimits())
    audit = Audit(pool, share, {"exact": 1e-4, "int8": 0.1}) if share else None
    reuse = Reuse(pool, Namespaces("of the test"), device=backbone.device, audit=audit)
    runner = ModelRunner(backbone, forward=GpuForward(backbone))
    async with serving(path, backbone=backbone, runner=runner, reuse=reuse) as service:
        yield service


async def settled(service: TinySessions) -> None:
    kept = service.steps.reuse
    assert kept is not None
    while kept.parking:
        await asyncio.gather(*kept.parking)


def assert_goes_on(path: Path, ids: list[int]) -> None:
    """``generate`` ends where a reply does; the device of the test goes on."""
    wanted = oracle.greedy(path, PROMPT, COUNT)
    assert ids[: len(wanted)] == wanted


def test_a_second_session_begins_with_what_the_first_one_computed(any_path: Path) -> None:
    async def scenario() -> tuple[int, list[int]]:
        async with keeping(any_path) as service:
            first = await Device(service, any_path).open()
            await first.greedy(PROMPT, COUNT)
            second = Device(service, any_path)
            held = await second.reopen(PROMPT[:-1])
            return held, await second.greedy(PROMPT, COUNT, start=held)

    held, ids = asyncio.run(scenario())
    assert held == 288
    assert_goes_on(any_path, ids)


def test_rows_that_were_sent_in_vain_are_not_computed(any_path: Path) -> None:
    async def scenario() -> tuple[int, list[int]]:
        async with keeping(any_path) as service:
            await (await Device(service, any_path).open()).greedy(PROMPT, 1)
            second = await Device(service, any_path).open()
            ids = await second.greedy(PROMPT, COUNT)
            reuse = service.steps.reuse
            assert reuse is not None
            return reuse.taken["sent"], ids

    sent, ids = asyncio.run(scenario())
    assert sent == 288
    assert_goes_on(any_path, ids)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_parked_session_goes_on_bit_for_bit(tmp_path: Path, dtype: str) -> None:
    path = tiny_checkpoint("llama", tmp_path)

    async def scenario(park: bool) -> np.ndarray:
        async with keeping(path, dtype) as service:
            device = await Device(service, path).open()
            ids = await device.greedy(PROMPT, COUNT)
            held = len(PROMPT) + COUNT - 1
            if park:
                await device.close()
                await settled(service)
                assert await device.reopen([*PROMPT, *ids[:-1]]) == held
            states = [
                (await device.step(held + at, [token])).hidden
                for at, token in enumerate([ids[-1], 5, 6, 7])
            ]
            return np.concatenate(states)

    stayed, parked = (asyncio.run(scenario(park)) for park in (False, True))
    assert np.array_equal(stayed, parked)


def test_an_audit_compares_what_is_kept_with_what_the_gpu_computes(tmp_path: Path) -> None:
    path = tiny_checkpoint("qwen2", tmp_path)

    async def scenario() -> tuple[int, int]:
        async with keeping(path, share=1.0) as service:
            await (await Device(service, path).open()).greedy(PROMPT, 1)
            await (await Device(service, path).open()).greedy(PROMPT, 1)
            reuse = service.steps.reuse
            assert reuse is not None
            assert reuse.audit is not None
            return reuse.audit.counts["passed"], reuse.audit.counts["failed"]

    assert asyncio.run(scenario()) == (1, 0)
