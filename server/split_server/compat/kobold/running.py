"""Replies as Kobold clients get them: tokens with their final texts, then how each reply ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from split_client.generation.loop import Event, Finished, FinishReason, TokenEvent
from split_server.compat.generator import Generator
from split_server.compat.grammars.grammars import MakeConstraint
from split_server.compat.kobold.pieces import Settling
from split_server.compat.kobold.request import KoboldRequest
from split_server.compat.request import GenerationRequest

_T = TypeVar("_T")
_REASONS: dict[FinishReason, str] = {
    "eos": "stop_token",
    "stop": "stop_sequence",
    "length": "length",
    "context": "length",
    "cancelled": "cancelled",
}


@dataclass(frozen=True, slots=True)
class Token:
    """One token of one sample; its text is final."""

    sample: int
    event: TokenEvent


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of one sample: ``tokens`` were sent in ``seconds``; ``reason`` as clients know it;
    ``approximate``: tokens of the prompt that were there, and not exact.
    """

    sample: int
    reason: str
    tokens: int
    seconds: float
    approximate: int = 0


Item: TypeAlias = Token | Ended


def replies(
    generator: Generator,
    principal: str,
    request: KoboldRequest,
    prompt: tuple[int, ...],
    constraint: MakeConstraint | None = None,
) -> AsyncGenerator[Item, None]:
    """Everything of all samples, which run at the same time. Close it to cancel them.

    ``constraint`` makes the state of each one's form.

    Raises what ``Generator.generate`` raises.
    """
    sources = [
        _reply(generator, principal, request.generation(prompt, sample, constraint), sample)
        for sample in range(request.samples)
    ]
    return sources[0] if len(sources) == 1 else _merged(sources)


async def _reply(
    generator: Generator,
    principal: str,
    request: GenerationRequest,
    sample: int,
    clock: Callable[[], float] = time.perf_counter,
) -> AsyncGenerator[Item, None]:
    began, tokens = clock(), 0
    ends = _ends(generator, request)
    settling = Settling(generator.ends.tokenizer, request.stops)
    prompt = _Prompt()
    async with generator.generate(principal, request) as events:
        async for event in _whole(prompt.read(events), ends, settling):
            if isinstance(event, Finished):
                seconds = clock() - began
                yield Ended(sample, _REASONS[event.reason], tokens, seconds, prompt.approximate)
            else:
                tokens += 1
                yield Token(sample, event)


@dataclass(slots=True)
class _Prompt:
    """What events tell of the prompt, also the one of a token that ends the reply at once."""

    approximate: int = 0

    async def read(self, events: AsyncIterator[Event]) -> AsyncIterator[Event]:
        async for event in events:
            if isinstance(event, TokenEvent):
                self.approximate = self.approximate or event.spared.inexact.total
            yield event


def _ends(generator: Generator, request: GenerationRequest) -> frozenset[int]:
    own = frozenset[int]() if request.ignore_eos else generator.ends.manifest.eos_token_ids
    return own | request.stop_tokens


async def _whole(
    events: AsyncIterator[Event], ends: frozenset[int], settling: Settling
) -> AsyncIterator[Event]:
    """``events`` without the token that ends the reply, each with all of its text.

    A token whose text may be incomplete waits for the next event, so that the last one gets what
    was held back.
    """
    waiting: TokenEvent | None = None
    async for event in events:
        if isinstance(event, Finished):
            if waiting is not None:
                yield replace(waiting, text=waiting.text + event.text)
            yield event
        elif event.token not in ends:
            if waiting is not None:
                yield waiting
            waiting = None if settling.settled(event) else event
            if waiting is None:
                yield event


async def _merged(sources: Sequence[AsyncGenerator[_T, None]]) -> AsyncGenerator[_T, None]:
    """Items of all ``sources`` as they come; one that fails ends them all."""
    queue: asyncio.Queue[tuple[_T] | Exception | None] = asyncio.Queue(len(sources))

    async def pump(source: AsyncGenerator[_T, None]) -> None:
        end: Exception | None = None
        try:
            async with aclosing(source) as items:
                async for item in items:
                    await queue.put((item,))
        # Whatever it is belongs to the reader of all of them.
        except Exception as error:  # noqa: BLE001
            end = error
        await queue.put(end)

    tasks = [asyncio.create_task(pump(source)) for source in sources]
    left = len(tasks)
    try:
        while left:
            item = await queue.get()
            if isinstance(item, Exception):
                raise item
            if item is None:
                left -= 1
            else:
                yield item[0]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
