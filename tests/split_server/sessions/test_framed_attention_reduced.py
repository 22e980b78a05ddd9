"""Attention rows of some layers reduced to one, against eager attention reduced in float64."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_wire.attention import AttentionRequest
from split_wire.client import StepCompleted
from tests.checkpoints import ALL_FAMILIES
from tests.engines import Device, run, serving
from tests.exhaustive import EXHAUSTIVE
from tests.split_server.sessions.test_framed_attention import IDS, asked, wanted

# With windows, with a soft cap, with neither.
FAMILIES = ALL_FAMILIES if EXHAUSTIVE else ("qwen2", "gemma2", "gemma3_text")
REQUESTS = (
    AttentionRequest(layers=(1,)),
    AttentionRequest(layers=(0, 2), top_k=7),
    AttentionRequest("max", layers=(2,), reduce="mean"),
    AttentionRequest("mean", reduce="max", top_k=4096),
    AttentionRequest("max", 9, "f16", (0, 1), "max"),
    AttentionRequest("all", 0, "f16", (), "mean"),
)


def reduced(rows: NDArray[Any], request: AttentionRequest) -> NDArray[np.float64]:
    """``rows`` [layers, heads, positions] as ``request`` has them, all positions of them."""
    rows = rows.astype(np.float64)[[*request.layers] or slice(None)]
    if request.heads != "all":
        rows = getattr(rows, request.heads)(axis=1, keepdims=True)
    if request.reduce != "none":
        rows = getattr(rows, request.reduce)(axis=(0, 1), keepdims=True)
    return rows


def require_reduced(event: StepCompleted, rows: NDArray[Any], request: AttentionRequest) -> None:
    """``event`` brought what ``request`` makes of ``rows``."""
    full, off = reduced(rows, request), 1e-3 if request.dtype == "f16" else 1e-5
    assert event.attention is not None
    values, positions = event.attention.values, event.attention.positions
    if positions is not None:
        largest = -np.sort(-full, axis=-1)[..., : request.top_k]
        np.testing.assert_allclose(values, largest, atol=off)
        full = np.take_along_axis(full, positions.astype(np.int64), -1)
    np.testing.assert_allclose(values, full, atol=off)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_of_all_families_are_reduced_as_float64_reduces_them(
    family: str, tiny_family: Any
) -> None:
    path: Path = tiny_family(family)

    async def one(device: Device, request: AttentionRequest, ends: Sequence[int]) -> None:
        start = 0
        for end in ends:
            event = await asked(device, start, IDS[start:end], request)
            require_reduced(event, wanted(path, IDS[:end]), request)
            start = end

    async def scenario() -> None:
        async with serving(path, pass_rows=24) as service:
            devices = [await Device(service, path).open() for _ in REQUESTS]
            # Some of them are computed in one pass, and some prefills in several.
            jobs = [
                one(device, request, (30 + at, 31 + at, 44, 45))
                for at, (device, request) in enumerate(zip(devices, REQUESTS, strict=True))
            ]
            await asyncio.gather(*jobs)

    run(scenario())
