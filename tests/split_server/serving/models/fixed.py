"""A keeper that loads a model when somebody asks, on a thread, and lets it go when told to."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from split_server.serving.app import served_models
from split_server.serving.config import ServerConfig
from split_server.serving.models.naming import NamedModel
from split_server.serving.models.room import Room
from split_server.serving.models.served import MakeRoom, Served
from split_wire.errors import ModelLoading, OperatorNeeded, ShuttingDown, SplitError, UnknownModel


@dataclass
class FixedState:
    name: str
    first: bool
    state: str = "unloaded"
    seconds: float | None = None
    bytes: int | None = None
    loads: int = 0
    unloads: int = 0


class FixedRooms:
    """``refusal``: what is raised instead of loading, while there is one."""

    def __init__(self, models: Sequence[NamedModel], make: MakeRoom, first: Room) -> None:
        self._models = {named.name: named for named in models}
        self._make, self._first = make, first
        self._rooms = {first.name: first}
        self._states = {name: FixedState(name, name == first.name) for name in self._models}
        self._states[first.name].state, self._states[first.name].loads = "loaded", 1
        self._lock = asyncio.Lock()
        self._draining = False
        self.refusal: SplitError | None = None

    def states(self) -> Sequence[FixedState]:
        for name, room in self._rooms.items():
            self._states[name].seconds = max(0.0, time.monotonic() - room.used())
        return list(self._states.values())

    def loaded(self, name: str) -> Room | None:
        return self._rooms.get(name)

    def rooms(self) -> Sequence[Room]:
        return list(self._rooms.values())

    @property
    def at_work(self) -> bool:
        return False

    async def room(self, name: str, principal: str) -> Room:
        del principal
        if self._draining:
            raise ShuttingDown
        if name not in self._models:
            raise UnknownModel(name, list(self._models))
        async with self._lock:
            if name not in self._rooms:
                if self.refusal is not None:
                    raise self.refusal
                room = await asyncio.to_thread(self._make, self._models[name])
                room.start()
                self._rooms[name] = room
                self._states[name].state = "loaded"
                self._states[name].loads += 1
        return self._rooms[name]

    async def load(self, name: str, principal: str) -> None:
        await self.room(name, principal)

    async def unload(self, name: str, principal: str, *, operator: bool) -> None:
        del principal
        if not operator:
            raise OperatorNeeded("to let a model go that others use")
        room = self._rooms.pop(name)
        await room.drain()
        await asyncio.to_thread(room.close)
        state = self._states[name]
        state.state, state.seconds, state.unloads = "unloaded", None, state.unloads + 1

    async def sweep(self) -> None:
        pass

    async def drain(self) -> None:
        self._draining = True
        await asyncio.gather(*(room.drain() for room in self._rooms.values()))

    def close(self) -> None:
        for room in self._rooms.values():
            room.close()


def fixed(config: ServerConfig) -> Served:
    """The models of ``config`` under such a keeper."""
    found = served_models(config)
    return Served(
        models=found.models,
        parts=found.parts,
        load=found.load,
        keeper=FixedRooms,
        cards=found.cards,
    )


LOADING = ModelLoading("other", 7.2)
