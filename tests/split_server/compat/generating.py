"""A generator beside a running engine, and what is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from split_client.generation.loop import TokenEvent
from split_client.generation.sampling.params import SamplingParams
from split_client.weights.store import ModelStore
from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.compat.ends import LocalEnds
from split_server.compat.generator import GenerationRequest, Generator, GeneratorLimits
from tests.engines import serving

PROMPT = tuple(range(11, 31))
COUNT = 12


def request(prompt: tuple[int, ...] = PROMPT, count: int = COUNT, **options: Any) -> Any:
    params = options.pop("params", SamplingParams())
    return GenerationRequest(prompt, params, count, **options)


@asynccontextmanager
async def generating(
    path: Path, bounds: GeneratorLimits | None = None, **options: Any
) -> AsyncIterator[Generator]:
    """A generator beside a running service."""
    checkpoint = read_checkpoint(path, path.name)
    catalog = build_catalog(checkpoint)
    local = LocalEnds.open(catalog, build_manifest(checkpoint, catalog), ModelStore())
    try:
        async with serving(path, **options) as service:
            generator = Generator(local.ends, service.in_process, bounds)
            yield generator
            generator.close()
    finally:
        local.close()


async def events_of(generator: Generator, asked: GenerationRequest) -> list[Any]:
    async with generator.generate("local", asked) as events:
        return [event async for event in events]


def ids_of(events: list[Any]) -> list[int]:
    return [event.token for event in events if isinstance(event, TokenEvent)]


async def until(condition: Any) -> None:
    """Let the loop run until ``condition`` holds."""
    async with asyncio.timeout(20):
        # What it waits for happens on this loop, in no event that could be waited for.
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0)
