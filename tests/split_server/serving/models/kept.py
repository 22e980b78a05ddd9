"""A keeper over rooms that hold nothing, memory that the test turns, and a clock of its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from split_server.serving.config import ServerConfig
from split_server.serving.models.keeper import Keeper
from split_server.serving.models.naming import NamedModel
from tests.patience import PATIENCE


class FakeRoom:
    """``last``: when it was used; ``events``: what was done with it, by name."""

    def __init__(self, name: str, ground: FakeGround) -> None:
        self.name, self._ground = name, ground
        self.last = 0.0
        self.principals: set[str] = set()
        store = SimpleNamespace(principals=lambda: self.principals)
        size = ground.sizes[name]
        self.parts: Any = SimpleNamespace(
            weights=size,
            held=lambda: size,
            let_go=lambda: ground.let_go(name),
            steps=SimpleNamespace(store=store),
        )

    def warm_up(self) -> None:
        assert not asyncio._get_running_loop()

    def start(self) -> None:
        self._ground.events.append(f"start {self.name}")
        if self._ground.broken == self.name:
            raise RuntimeError("the first pass failed")

    async def drain(self) -> None:
        self._ground.events.append(f"drain {self.name}")
        await asyncio.sleep(0)

    def close(self) -> None:
        self._ground.events.append(f"close {self.name}")

    def used(self) -> float:
        return self.last


@dataclass
class FakeAhead:
    ground: FakeGround
    sizes: tuple[int, ...]

    @property
    def ways(self) -> tuple[int, ...]:
        return self.sizes

    def size(self, way: int) -> int:
        return self.sizes[way]

    def lacking(self, way: int, *, waiting: bool = True) -> int:
        return self.sizes[way] - self.ground.free - (self.ground.waiting if waiting else 0)

    def make_way(self, way: int) -> None:
        self.ground.events.append(f"way {way}")


@dataclass
class FakeGround:
    """``free`` bytes for models of ``sizes``; ``less``: that a model takes in a cheaper way;
    ``gate`` is waited for by loads where there is one, ``failure`` is raised by them; ``broken``:
    the model that does not start.
    """

    free: int = 100
    waiting: int = 0
    sizes: dict[str, int] = field(default_factory=dict)
    less: dict[str, int] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    promises: list[int] = field(default_factory=list)
    gate: threading.Event | None = None
    failure: Exception | None = None
    broken: str = ""

    def prepare(self, named: NamedModel) -> FakeAhead:
        sizes = [self.sizes[named.name]]
        return FakeAhead(self, (*sizes, *([self.less[named.name]] if self.less else [])))

    @contextmanager
    def promised(self, size: int) -> Iterator[None]:
        self.promises.append(size)
        try:
            yield
        finally:
            self.promises.remove(size)

    def load(self, named: NamedModel) -> FakeRoom:
        self.events.append(f"load {named.name}")
        if self.gate is not None:
            assert self.gate.wait(PATIENCE)
        if self.failure is not None:
            raise self.failure
        self.free -= self.sizes[named.name]
        return FakeRoom(named.name, self)

    def let_go(self, name: str) -> None:
        self.events.append(f"let go {name}")
        self.free += self.sizes[name]


class Kept:
    """Models ``a`` (the first one) to ``d`` of 10, 40, 50 and 60 bytes, in 100 bytes; all of them
    lie at ``place``.
    """

    def __init__(
        self, keep: float = 300.0, patience: float = PATIENCE, place: Path | None = None
    ) -> None:
        self.now = 1000.0
        self.ground = FakeGround(90, sizes={"a": 10, "b": 40, "c": 50, "d": 60})
        config = ServerConfig() if place is None else ServerConfig(model=str(place))
        models = [NamedModel(name, config, named=True) for name in self.ground.sizes]
        self.first = FakeRoom("a", self.ground)
        self.keeper: Keeper[FakeRoom] = Keeper(
            models,
            self.ground.load,
            self.first,
            self.ground,
            keep,
            clock=lambda: self.now,
            patience=patience,
        )

    def states(self) -> dict[str, str]:
        return {one.name: one.state for one in self.keeper.states()}

    async def used(self, name: str, principal: str = "ann") -> FakeRoom:
        """Have the model loaded and used now."""
        room = await self.keeper.room(name, principal)
        room.last = self.now
        return room


async def reached(true: Callable[[], object]) -> None:
    """Return once ``true()`` is so, which another task or thread will see to."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "in vain"
        await asyncio.sleep(0)
