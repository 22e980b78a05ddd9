"""The keeper of a server with one model, which stays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from split_server.serving.models.room import Room
from split_wire.errors import ModelBusy, OperatorNeeded, ShuttingDown, UnknownModel

_LATER = 60.0


@dataclass(frozen=True, slots=True)
class _Only:
    name: str
    seconds: float
    first: bool = True
    state: str = "loaded"
    bytes: int | None = None
    loads: int = 1
    unloads: int = 0


class Single:
    """Keeps ``room``."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._draining = False

    def states(self) -> Sequence[_Only]:
        """Of the one."""
        return [_Only(self._room.name, max(0.0, time.monotonic() - self._room.used()))]

    def loaded(self, name: str) -> Room | None:
        """The room by its name."""
        return self._room if name == self._room.name else None

    def rooms(self) -> Sequence[Room]:
        """The room."""
        return [self._room]

    @property
    def at_work(self) -> bool:
        """Nothing is loaded."""
        return False

    async def room(self, name: str, principal: str) -> Room:
        """The room. Raises UnknownModel, ShuttingDown."""
        del principal
        if self._draining:
            raise ShuttingDown
        if name != self._room.name:
            raise UnknownModel(name, [self._room.name])
        return self._room

    async def load(self, name: str, principal: str) -> None:
        """It is loaded. Raises UnknownModel, ShuttingDown."""
        await self.room(name, principal)

    async def unload(self, name: str, principal: str, *, operator: bool) -> None:
        """Raises UnknownModel, OperatorNeeded, ModelBusy."""
        await self.room(name, principal)
        if not operator:
            raise OperatorNeeded("to let the first model go")
        raise ModelBusy(name, "the first model always stays", _LATER)

    async def sweep(self) -> None:
        """It stays."""

    async def drain(self) -> None:
        """Drain it."""
        self._draining = True
        await self._room.drain()

    def close(self) -> None:
        """Close it."""
        self._room.close()
