"""Attention rows that a device asks for, against eager attention of the whole model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM

from split_server.memory.budget import BudgetLimits
from split_wire.attention import AttentionRequest
from split_wire.client import StepCompleted
from split_wire.codec import decode_client_message, encode_message
from split_wire.messages import Step
from tests import oracle
from tests.checkpoints import ALL_FAMILIES
from tests.engines import Device, run, serving

IDS = list(range(7, 52))
ALL = AttentionRequest()


@cache
def eager(path: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(
        path, dtype=torch.float32, attn_implementation="eager"
    ).eval()


def wanted(path: Path, ids: list[int]) -> NDArray[np.float32]:
    """The last position's rows of all layers and heads, [layers, heads, len(ids)]."""
    with torch.inference_mode():
        attentions = eager(path)(torch.tensor([ids]), output_attentions=True).attentions
    rows: NDArray[np.float32] = torch.stack([layer[0, :, -1] for layer in attentions]).numpy()
    return rows


async def asked(
    device: Device, start: int, ids: list[int], request: AttentionRequest
) -> StepCompleted:
    rows = oracle.embeddings(device.path, ids).numpy()
    event = await device.send(device.protocol.step(start, rows, attention=request))
    assert isinstance(event, StepCompleted), event
    return event


@pytest.mark.parametrize("family", ALL_FAMILIES)
def test_rows_of_prefill_and_decode_equal_eager_attention(family: str, tiny_family: Any) -> None:
    path = tiny_family(family)

    async def scenario() -> None:
        async with serving(path) as service:
            device = await Device(service, path).open()
            for start, end in ((0, 20), (20, 21), (21, 44), (44, 45)):
                event = await asked(device, start, IDS[start:end], ALL)
                assert event.attention is not None
                rows = wanted(path, IDS[:end])
                np.testing.assert_allclose(event.attention.values, rows, atol=1e-5)
                np.testing.assert_allclose(event.attention.values.sum(-1), 1.0, atol=1e-5)

    run(scenario())


def test_a_prefill_of_several_slices_shows_its_last_position(tiny_path: Path) -> None:
    ids = [IDS[i % len(IDS)] for i in range(400)]

    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            event = await asked(device, 0, ids, ALL)
            assert event.attention is not None
            np.testing.assert_allclose(event.attention.values, wanted(tiny_path, ids), atol=1e-5)

    run(scenario())


@pytest.mark.parametrize("heads", ["all", "mean", "max"])
def test_rows_are_reduced_as_asked(tiny_path: Path, heads: Any) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            event = await asked(device, 0, IDS, AttentionRequest(heads, top_k=5))
        full = wanted(tiny_path, IDS)
        reduced = {
            "all": full,
            "mean": full.mean(1, keepdims=True),
            "max": full.max(1, keepdims=True),
        }[heads]
        assert event.attention is not None
        assert event.attention.positions is not None
        largest = -np.sort(-reduced, axis=-1)[..., :5]
        np.testing.assert_allclose(event.attention.values, largest, atol=1e-5)
        picked = np.take_along_axis(reduced, event.attention.positions.astype(np.int64), -1)
        np.testing.assert_allclose(picked, largest, atol=1e-5)

    run(scenario())


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_the_rows_of_some_layers_become_one(tiny_path: Path, reduce: Any) -> None:
    request = AttentionRequest(layers=(0, 2), reduce=reduce)

    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            for start, end in ((0, 20), (20, 21)):
                event = await asked(device, start, IDS[start:end], request)
                rows = wanted(tiny_path, IDS[:end])[[0, 2]]
                assert event.attention is not None
                one = getattr(rows, reduce)(axis=(0, 1), keepdims=True)
                np.testing.assert_allclose(event.attention.values, one, atol=1e-5)

    run(scenario())


def test_a_layer_that_the_model_does_not_have_is_refused_by_the_server(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            rows = oracle.embeddings(tiny_path, IDS).numpy()
            step = decode_client_message(device.protocol.step(0, rows), 1 << 20)
            assert isinstance(step, Step)
            asked_for = replace(step, attention=AttentionRequest(layers=(0, 3)))
            answer = await service.handle("local", encode_message(asked_for))
            assert answer.error is not None
            assert answer.error.code == "malformed_message"
            device.protocol.receive(answer.frame)
            assert (await device.step(0, IDS)).cached == len(IDS)

    run(scenario())


def test_watching_changes_no_token(family_path: Path) -> None:
    async def scenario() -> list[int]:
        async with serving(family_path) as service:
            device = await Device(service, family_path).open()
            new: list[int] = []
            start = 0
            for _ in range(12):
                event = await asked(device, start, (IDS + new)[start:], ALL)
                start = len(IDS) + len(new)
                new.append(device.pick(event.hidden))
            return new

    said = run(scenario())
    wanted_ids = oracle.greedy(family_path, IDS, 12)
    assert said[: len(wanted_ids)] == wanted_ids


def test_a_repeated_step_is_answered_with_the_same_rows(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            frame = device.protocol.step(
                0, oracle.embeddings(tiny_path, IDS).numpy(), attention=ALL
            )
            first = await service.handle("local", frame)
            assert (await service.handle("local", frame)).frame == first.frame

    run(scenario())


def test_attention_that_does_not_fit_is_refused_and_the_session_goes_on(tiny_path: Path) -> None:
    async def scenario() -> None:
        # Room for the cache and small replies, not for three layers of four heads over 45 rows.
        async with serving(tiny_path, budget=BudgetLimits(66 * 768)) as service:
            device = await Device(service, tiny_path).open()
            rows = oracle.embeddings(tiny_path, IDS).numpy()
            frame = device.protocol.step(0, rows, attention=ALL)
            assert await device.refused(frame) == "cache_full"
            event = await device.step(0, IDS)
            assert event.cached == len(IDS)

    run(scenario())


def test_more_attention_than_a_frame_may_hold_is_refused_by_the_server(tiny_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            rows = oracle.embeddings(tiny_path, IDS).numpy()
            frame = device.protocol.step(0, rows, attention=ALL)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("split_wire.attention.LARGEST_ATTENTION_BYTES", 1024)
                answer = await service.handle("local", frame)
            assert answer.error is not None
            assert answer.error.code == "attention_too_large"
            device.protocol.receive(answer.frame)
            assert (await device.step(0, IDS)).cached == len(IDS)

    run(scenario())
