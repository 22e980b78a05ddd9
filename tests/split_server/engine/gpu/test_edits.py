"""Edits inside a prompt on a CUDA device, with rows between that are computed anew; nothing to be
seen where there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import torch

from split_server.engine.model.blending import Blending
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.trials.rotation import key_rotation
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.reuse import Reuse
from split_wire.client.events import StepCompleted
from split_wire.tiers import TIERS, Inexact
from tests import oracle
from tests.checkpoints import ALL_FAMILIES, tiny_checkpoint
from tests.engines import TinySessions, serving
from tests.split_server.engine.gpu.test_forward import backbone_on_gpu
from tests.split_server.sessions.test_blending import off, plain
from tests.split_server.sessions.test_splicing import END, ROWS, SPANS, WANTED, expected, prompted

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.fixture(scope="module", params=ALL_FAMILIES)
def any_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(request.param, tmp_path_factory.mktemp("gpu"))


@asynccontextmanager
async def editing(path: Path) -> AsyncIterator[TinySessions]:
    """A service on the GPU that moves rows and computes some of them anew."""
    from split_server.engine.gpu.forward import GpuForward

    backbone = backbone_on_gpu(path)
    pool = RunPool(PoolLimits())
    reuse = Reuse(pool, Namespaces("of the test"), device=backbone.device, tiers=TIERS)
    runner = ModelRunner(backbone, forward=GpuForward(backbone))
    rotation, blending = key_rotation(backbone), Blending(backbone)
    made = {"rotation": rotation, "blending": blending, "reuse": reuse}
    async with serving(path, backbone=backbone, runner=runner, **made) as service:
        yield service


def test_what_is_moved_is_attended_to_at_its_new_place(any_path: Path) -> None:
    async def scenario() -> StepCompleted:
        async with editing(any_path) as service:
            device = await prompted(service, any_path)
            return await device.splice(20, SPANS, ROWS)

    found = asyncio.run(scenario())
    assert found.tiers == Inexact(approximate=END - 25)
    assert off(found.hidden, expected(any_path)) < 5e-4


def test_rows_that_are_all_computed_anew_are_the_plain_ones_and_decoding_goes_on(
    any_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = "split_server.sessions.admission.blends.blended"
    monkeypatch.setattr(everything, lambda spans, _: sum(span.rows for span in spans))

    async def scenario() -> tuple[StepCompleted, StepCompleted]:
        async with editing(any_path) as service:
            device = await prompted(service, any_path)
            rows = oracle.embeddings(any_path, WANTED[20:]).numpy()
            event = await device.send(device.protocol.splice(20, SPANS, rows, 0.5))
            assert isinstance(event, StepCompleted), event
            return event, await device.step(END - 1, WANTED[-1:])

    found, again = asyncio.run(scenario())
    right = plain(any_path)
    assert off(found.hidden, right) < 5e-4
    assert off(again.hidden, right) < 5e-4
