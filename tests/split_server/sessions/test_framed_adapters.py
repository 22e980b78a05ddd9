"""Steps that name an adapter, frame by frame."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from split_server.adapters.folder import open_adapters
from split_server.engine.model.delta import Delta
from split_wire.attention import AttentionRequest
from split_wire.client import StepCompleted
from tests import oracle
from tests.adapted import applied, write_adapter
from tests.engines import Device, run, serving

HIDDEN, SCALE = 64, 0.5
PROMPT = list(range(11, 31))


@asynccontextmanager
async def adapted(path: Path, folder: Path) -> AsyncIterator[tuple[Device, Any]]:
    """An open session at a service with the adapter ``x``, and the adapter's A and B."""
    matrices = write_adapter(folder / "x", HIDDEN, scale=SCALE)
    adapters = {name: Delta.of(file) for name, file in open_adapters(folder, HIDDEN).items()}
    async with serving(path, adapters=adapters) as service:
        yield await Device(service, path).open(), matrices


async def step(device: Device, start: int, ids: list[int], **options: Any) -> StepCompleted:
    rows = oracle.embeddings(device.path, ids).numpy()
    event = await device.send(device.protocol.step(start, rows, **options))
    assert isinstance(event, StepCompleted), event
    return event


def expected(path: Path, matrices: Any, ids: list[int]) -> np.ndarray:
    with applied(path, *matrices, SCALE):
        return oracle.logits(path, ids).numpy()


def logits(path: Path, event: StepCompleted) -> np.ndarray:
    return oracle.head(path, torch.from_numpy(event.hidden.copy())).numpy()


def test_an_adapter_changes_what_is_returned_and_not_what_is_cached(
    tiny_path: Path, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with adapted(tiny_path, tmp_path) as (device, matrices):
            plain = oracle.logits(tiny_path, [*PROMPT, 40, 41]).numpy()
            changed = expected(tiny_path, matrices, [*PROMPT, 40, 41])
            n = len(PROMPT)
            every = await step(device, 0, PROMPT, rows="all", adapter="x")
            np.testing.assert_allclose(logits(tiny_path, every), changed[:n], rtol=1e-3, atol=1e-3)
            without = await step(device, n, [40])
            np.testing.assert_allclose(logits(tiny_path, without)[0], plain[n], atol=1e-3)
            back = await step(device, n + 1, [41], adapter="x")
            np.testing.assert_allclose(
                logits(tiny_path, back)[0], changed[-1], rtol=1e-3, atol=1e-3
            )
            assert (changed.argmax(1) != plain.argmax(1)).any()

    run(scenario())


def test_attention_is_that_of_the_model_alone(tiny_path: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with adapted(tiny_path, tmp_path) as (device, _):
            with_it = await step(device, 0, PROMPT, attention=AttentionRequest(), adapter="x")
            without = await step(device, 0, PROMPT, attention=AttentionRequest())
            assert with_it.attention is not None
            assert without.attention is not None
            np.testing.assert_array_equal(with_it.attention.values, without.attention.values)

    run(scenario())


def test_a_step_that_is_sent_again_is_answered_from_memory(tiny_path: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        async with adapted(tiny_path, tmp_path) as (device, _):
            rows = oracle.embeddings(tiny_path, PROMPT).numpy()
            frame = device.protocol.step(0, rows, adapter="x")
            first = await device.service.handle("local", frame)
            again = await device.service.handle("local", frame)
            assert first.error is None
            assert first.frame == again.frame

    run(scenario())


def test_the_same_step_with_another_adapter_is_another_step(
    tiny_path: Path, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with adapted(tiny_path, tmp_path) as (device, _):
            rows = oracle.embeddings(tiny_path, PROMPT).numpy()
            other = copy.deepcopy(device.protocol)
            frame = device.protocol.step(0, rows, adapter="x")
            await device.service.handle("local", frame)
            answer = await device.service.handle("local", other.step(0, rows))
            assert answer.error is not None
            assert answer.error.code == "step_conflict"

    run(scenario())


def test_an_unknown_adapter_is_refused_before_anything_changes(
    tiny_path: Path, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with adapted(tiny_path, tmp_path) as (device, _):
            ids = await device.greedy(PROMPT, 1)
            rows = oracle.embeddings(tiny_path, ids).numpy()
            frame = device.protocol.step(0, rows, adapter="gardening")
            assert await device.refused(frame) == "unknown_adapter"
            ids += await device.greedy(PROMPT + ids, 4, start=len(PROMPT))
            assert ids == oracle.greedy(tiny_path, PROMPT, 5)

    run(scenario())
