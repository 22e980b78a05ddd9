"""Edits of a prompt, and hidden parts of it, on a CUDA device; nothing to be seen without one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import torch

from split_server.engine.model.trials.rotation import key_rotation
from split_server.kv.block_key import Namespaces
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.sessions.reuse import Reuse
from split_wire.tiers import TIERS, Inexact
from tests.checkpoints import ALL_FAMILIES, tiny_checkpoint
from tests.engines import serving
from tests.split_server.engine.gpu.test_forward import backbone_on_gpu
from tests.split_server.engine.model.trials.test_rotation import furthest
from tests.split_server.sessions import test_splicing as edits
from tests.split_server.sessions import test_splicing_hidden as hidden

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.fixture(scope="module", params=ALL_FAMILIES)
def any_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_checkpoint(request.param, tmp_path_factory.mktemp("gpu"))


def options(path: Path) -> dict[str, Any]:
    from split_server.engine.gpu.forward import GpuForward
    from split_server.engine.model.runner import ModelRunner

    backbone = backbone_on_gpu(path)
    pool = RunPool(PoolLimits())
    return {
        "backbone": backbone,
        "runner": ModelRunner(backbone, forward=GpuForward(backbone)),
        "reuse": Reuse(pool, Namespaces("of the test"), tiers=TIERS, device=backbone.device),
        "rotation": key_rotation(backbone),
        "spans": True,
    }


def assert_near(found: Any, right: torch.Tensor) -> None:
    difference = torch.from_numpy(found[-1].copy()) - right
    assert float(difference.norm() / right.norm()) < 3e-4


def test_moved_keys_are_the_computed_ones(any_path: Path) -> None:
    backbone = backbone_on_gpu(any_path)
    rows = torch.randn(24, backbone.info.hidden_size, generator=torch.manual_seed(3))
    assert furthest(backbone, key_rotation(backbone), rows) <= 1e-6


def test_what_is_moved_is_attended_to_at_its_new_place(any_path: Path) -> None:
    async def scenario() -> Any:
        async with serving(any_path, **options(any_path)) as service:
            device = await edits.prompted(service, any_path)
            return await device.splice(20, edits.SPANS, edits.ROWS)

    found = asyncio.run(scenario())
    assert found.cached == edits.END
    assert found.tiers == Inexact(approximate=edits.END - 25)
    assert_near(found.hidden, edits.expected(any_path))


def test_rows_move_while_others_are_hidden(any_path: Path) -> None:
    async def scenario() -> Any:
        async with serving(any_path, **options(any_path)) as service:
            device = await edits.prompted(service, any_path)
            await hidden.hiding(any_path, device)
            found = await device.splice(20, edits.SPANS, edits.ROWS)
            assert device.protocol.hidden == hidden.LEFT
            return found

    assert_near(asyncio.run(scenario()).hidden, hidden.expected(any_path))
