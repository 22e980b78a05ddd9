"""Chunks under random messages of two principals, beside a set of those that have to be known."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from split_wire.client import ChunksFound, StepCompleted, StepFailed
from split_wire.documents.chunks import Chunk, Named, chunk_name
from split_wire.splice import Kept
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import Device, TinySessions, serving
from tests.exhaustive import EXHAUSTIVE
from tests.split_server.sessions.test_documents import opened, options

BOOKS = tuple([5 + (i * i * (k + 3)) % 71 for i in range(64 + 5 * k)] for k in range(4))
MOVES = 600 if EXHAUSTIVE else 60
# Whose: a principal and its salt.
Whose: TypeAlias = tuple[str, str | None]
WHOSE: tuple[Whose, ...] = (("ann", None), ("ann", "one"), ("bob", None), ("bob", "one"))


@dataclass
class Chat:
    """A session, the ``ids`` that it holds, how many of them are ``exact`` where not all are, and
    the numbers of the ``books`` that go when it is forgotten.
    """

    device: Device
    whose: Whose
    ids: list[int] = field(default_factory=list)
    exact: int = 0
    books: set[int] = field(default_factory=set)

    @property
    def takes(self) -> bool:
        return self.device.cache == "approximate"


class World:
    """``known``: books that each finds."""

    def __init__(self, service: TinySessions, path: Path, chance: random.Random) -> None:
        self.service, self.path, self.chance = service, path, chance
        self.known: set[tuple[Whose, int]] = set()
        self.chats: list[Chat] = []

    def words(self, most: int) -> list[int]:
        return [self.chance.randrange(5, 90) for _ in range(self.chance.randrange(1, most))]

    def name(self, ids: list[int]) -> bytes:
        rows = oracle.embeddings(self.path, ids).numpy()
        return chunk_name(Tensor.from_f32(rows, self.service.info.dtype))

    async def open(self) -> None:
        principal, salt = whose = self.chance.choice(WHOSE)
        cache: Any = self.chance.choice(["approximate", "approximate", "exact", "off"])
        who = {"principal": principal, "salt": salt, "cache": cache}
        self.chats.append(Chat(await opened(self.service, self.path, **who), whose))

    async def send_rows(self, chat: Chat, start: int, ids: list[int]) -> StepCompleted:
        """In one step or two."""
        cut = self.chance.randrange(len(ids))
        if cut:
            await chat.device.step(start, ids[:cut])
        event = await chat.device.step(start + cut, ids[cut:])
        chat.ids[start:] = ids
        if start <= chat.exact:
            chat.exact = 0
        return event

    async def tell(self, chat: Chat) -> None:
        """A book behind some of what the session holds; perhaps one of the rows is not sent."""
        start = self.chance.randrange(len(chat.ids) + 1)
        number, before = self.chance.randrange(len(BOOKS)), self.words(20)
        if start + 120 > 400:
            start = 0
        place = Chunk(start + len(before), len(BOOKS[number]))
        late = self.chance.random() < 0.2
        if late:
            await self.send_rows(chat, start, [*before, *BOOKS[number][:3]])
        chat.device.protocol.chunks = (place,) if chat.takes else ()
        if late:
            await self.send_rows(chat, place.start + 3, BOOKS[number][3:])
        else:
            await self.send_rows(chat, start, [*before, *BOOKS[number]])
            if chat.takes:
                self.known.add((chat.whose, number))
                chat.books.add(number)
        chat.device.protocol.chunks = ()

    async def turn_back(self, chat: Chat) -> None:
        """A book of which the middle is sent twice, the second time as something else."""
        if not chat.takes:
            return
        number, start = self.chance.randrange(len(BOOKS)), self.chance.randrange(3)
        start = min(start, len(chat.ids))
        book = BOOKS[number]
        other = [*book[:20], *self.words(9)]
        other += book[len(other) :]
        chat.device.protocol.chunks = (Chunk(start, len(book)),)
        await self.send_rows(chat, start, book[:40])
        await self.send_rows(chat, start + 20, other[20:40])
        await self.send_rows(chat, start + 40, other[40:])
        chat.device.protocol.chunks = ()

    async def find(self, chat: Chat) -> None:
        if not chat.takes:
            assert not chat.device.protocol.finds
            return
        asked = [Named(Chunk(200 * k, len(book)), self.name(book)) for k, book in enumerate(BOOKS)]
        event = await chat.device.send(chat.device.protocol.find(asked))
        assert isinstance(event, ChunksFound)
        assert {*event.known} == {k for whose, k in self.known if whose == chat.whose}

    async def take(self, chat: Chat) -> None:
        """A book behind some of what the session holds, whether it is known or not."""
        if not chat.takes:
            return
        number, start = self.chance.randrange(len(BOOKS)), self.chance.randrange(len(chat.ids) + 1)
        if start + 120 > 400:
            start = 0
        book, before, after = BOOKS[number], self.words(9), self.words(20)
        rows = oracle.embeddings(self.path, [*before, *book[:8], *after]).numpy()
        place = start + len(before)
        span = Kept(8, place + 8, len(book) - 8)
        frame = chat.device.protocol.splice(start, [span], rows, 0.0, self.name(book))
        event = await chat.device.send(frame)
        if (chat.whose, number) not in self.known:
            assert isinstance(event, StepFailed)
            assert event.failure.code == "chunk_gone"
            assert chat.device.protocol.cached == len(chat.ids)
            return
        assert isinstance(event, StepCompleted), event
        chat.ids[start:] = [*before, *book, *after]
        chat.books.add(number)
        if not 0 < chat.exact < start:
            chat.exact = span.new
        assert event.tiers.approximate == len(chat.ids) - chat.exact

    async def forget(self, chat: Chat) -> None:
        keep = self.chance.random() < 0.5
        await chat.device.close(keep=keep)
        self.chats.remove(chat)
        if not keep:
            self.known -= {(chat.whose, number) for number in chat.books}

    async def purge(self, chat: Chat) -> None:
        principal, salt = chat.whose
        reuse = self.service.steps.reuse
        assert reuse is not None
        await reuse.purge(principal, salt)
        gone = {each for each in self.known if each[0][0] == principal}
        self.known -= {each for each in gone if salt is None or each[0][1] == salt}

    async def plain(self, chat: Chat) -> None:
        """What stands on nothing that was taken is what the whole model says."""
        held = chat.exact or len(chat.ids)
        start = self.chance.randrange(held + 1)
        words = self.words(20)
        event = await self.send_rows(chat, start, words)
        assert not event.tiers.approximate
        assert chat.device.pick(event.hidden) == oracle.greedy(self.path, chat.ids, 1)[0]


@pytest.mark.parametrize("seed", range(4 if EXHAUSTIVE else 1))
def test_each_finds_what_it_has_told_and_nothing_else(seed: int, tiny_path: Path) -> None:
    chance = random.Random(seed)  # noqa: S311

    async def scenario() -> None:
        async with serving(tiny_path, **options(tiny_path)) as service:
            world = World(service, tiny_path, chance)
            await world.open()
            moves: list[Callable[[Chat], Any]] = [world.tell, world.find, world.take, world.plain]
            moves = [*moves, *moves, *moves, world.turn_back, world.forget]
            for number in range(MOVES):
                if not world.chats or (number % 6 == 0 and len(world.chats) < 12):
                    await world.open()
                move = world.purge if number % 50 == 49 else chance.choice(moves)
                await move(chance.choice(world.chats))
            pool = service.steps.reuse.pool  # type: ignore[union-attr]
            runs = [*pool._kept.runs]
            assert not any(run.readers for run in runs)
            assert pool.held_bytes == sum(run.size for run in runs)

    asyncio.run(scenario())
