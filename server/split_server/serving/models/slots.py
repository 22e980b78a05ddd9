"""One served model, whether it is loaded or not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeAlias, TypeVar

from split_server.checkpoint.mark import Mark
from split_server.serving.models.asked import Served
from split_server.serving.models.naming import NamedModel

State: TypeAlias = Literal["unloaded", "loading", "loaded", "leaving"]
R = TypeVar("R", bound=Served)
# Of a load that nobody has seen yet.
_USUAL_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelState:
    """``seconds``: for how long it was not used, None where it is not loaded; ``bytes`` that it
    holds, or took when it was seen last, None before; how often it was loaded and let go.
    """

    name: str
    first: bool
    state: State
    seconds: float | None
    bytes: int | None
    loads: int
    unloads: int


@dataclass(slots=True, eq=False)
class Slot(Generic[R]):
    """``room``: None unless it is loaded or leaving; ``task``: of the load under way; ``begun``:
    when its work began, ``took`` seconds the last time; ``size``: bytes that it takes; ``since``:
    when it was loaded, ``asked`` for; ``refused``: how what it is loaded from was marked when that
    could not be loaded, None where another try may do.
    """

    named: NamedModel
    first: bool
    room: R | None = None
    state: State = "unloaded"
    task: asyncio.Task[R] | None = None
    begun: float = 0.0
    took: float = _USUAL_SECONDS
    size: int | None = None
    since: float = 0.0
    asked: float = field(default=float("-inf"))
    loads: int = 0
    unloads: int = 0
    refused: Mark | None = None

    @property
    def name(self) -> str:
        """The model's name."""
        return self.named.name

    def unused(self, now: float) -> float:
        """Seconds for which nobody used it; it counts as used when it was loaded."""
        room = self.room
        return 0.0 if room is None else max(now - max(room.used(), self.since), 0.0)

    def left(self, now: float) -> float:
        """Seconds that the load under way may still take, by the last one."""
        return self.took - (now - self.begun)

    def seen(self, now: float) -> ModelState:
        """As it is told."""
        room = self.room
        return ModelState(
            name=self.name,
            first=self.first,
            state="loading" if self.task is not None and room is None else self.state,
            seconds=None if room is None else self.unused(now),
            bytes=self.size if room is None else room.parts.held(),
            loads=self.loads,
            unloads=self.unloads,
        )
