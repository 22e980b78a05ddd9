"""Runs the generations of one request and sends what they make."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from split_client.generation.loop import Event
from split_server.compat.generator import Generator
from split_server.compat.openai.replies import Delta, Reply, ReplyReader
from split_server.compat.openai.usage import Usage
from split_server.compat.request import GenerationRequest
from split_server.compat.time_limit import within
from split_server.http.openai.sink import Sink


class Answer(Protocol):
    """Encodes an answer, whole or as a stream."""

    def whole(self, replies: Sequence[Reply], usage: Usage) -> dict[str, Any]:
        """The answer that is not streamed."""

    def opening(self, index: int) -> list[dict[str, Any]]:
        """The first chunks of a choice of a stream."""

    def chunks(self, index: int, delta: Delta) -> list[dict[str, Any]]:
        """The chunks for what is new."""

    def closing(self, usage: Usage) -> list[dict[str, Any]]:
        """The last chunks of a stream."""


@dataclass(frozen=True, slots=True)
class Work:
    """``requests``: one for each choice, in order; ``reader`` makes what reads a reply. Where
    there are none, there are so many ``choices`` without a reply.
    """

    requests: Sequence[GenerationRequest]
    reader: Callable[[], ReplyReader]
    answer: Answer
    usage: Usage
    stream: bool
    choices: int = 0

    async def run(self, generator: Generator, principal: str, sink: Sink) -> None:
        """Make all replies and send them. Raises what the generator raises."""
        if not self.requests:
            await self._without_replies(sink)
            return
        for request in self.requests:
            generator.check(request)
        events = within(_events(generator, principal, self.requests), generator.seconds)
        async with aclosing(events):
            if self.stream:
                await self._stream(events, sink)
            else:
                await sink.json(await self._whole(events))

    async def _without_replies(self, sink: Sink) -> None:
        """What goes before replies is all that was asked for."""
        cut = Delta(finish="length")
        if not self.stream:
            replies = [Reply() for _ in range(self.choices)]
            for reply in replies:
                reply.add(cut)
            await sink.json(self.answer.whole(replies, self.usage))
            return
        await sink.start_events()
        for index in range(self.choices):
            await sink.events(self.answer.opening(index))
            await sink.events(self.answer.chunks(index, cut))
        await sink.events(self.answer.closing(self.usage))
        await sink.done()

    async def _whole(self, events: AsyncIterator[tuple[int, Event]]) -> dict[str, Any]:
        replies = [Reply() for _ in self.requests]
        readers = [self.reader() for _ in self.requests]
        async for index, event in events:
            self.usage.count(index, event)
            replies[index].add(readers[index].push(event))
        return self.answer.whole(replies, self.usage)

    async def _stream(self, events: AsyncIterator[tuple[int, Event]], sink: Sink) -> None:
        reader, opened = self.reader(), -1
        async for index, event in events:
            if opened < 0:
                # Not before the first token is there: a refusal has a status of its own till then.
                await sink.start_events()
            self.usage.count(index, event)
            if opened < index:
                reader, opened = self.reader(), index
                await sink.events(self.answer.opening(index))
            await sink.events(self.answer.chunks(index, reader.push(event)))
        await sink.events(self.answer.closing(self.usage))
        await sink.done()


async def _events(
    generator: Generator, principal: str, requests: Sequence[GenerationRequest]
) -> AsyncGenerator[tuple[int, Event], None]:
    """The events of every request with its number.

    One after the other: each finds the prompt cached that the one before has left, and however
    many there are, they need the memory of one.
    """
    for index, request in enumerate(requests):
        async with generator.generate(principal, request) as events:
            async for event in events:
                yield index, event
