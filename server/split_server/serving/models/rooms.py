"""What the application asks of whoever keeps the rooms of its models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from split_server.metrics.models import ModelCounts
from split_server.serving.models.room import Room


class State(ModelCounts, Protocol):
    """Of one model. ``seconds``: without a step, ``bytes``: that it holds, or needs; None where
    that is not known.
    """

    @property
    def first(self) -> bool: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def bytes(self) -> int | None: ...


class Rooms(Protocol):
    """Lives on the event loop. Models are named as settings have them."""

    def states(self) -> Sequence[State]:
        """Of all models, the first one first."""

    def loaded(self, name: str) -> Room | None:
        """The room of a model that takes requests, None where it is not there."""

    def rooms(self) -> Sequence[Room]:
        """All that are in memory, those that are leaving included."""

    @property
    def at_work(self) -> bool:
        """Whether a load, given up or not, still computes on a thread."""

    async def room(self, name: str, principal: str) -> Room:
        """The room, loaded where it is not. Raises UnknownModel, ModelLoading, ModelBusy,
        ShuttingDown.
        """

    async def load(self, name: str, principal: str) -> None:
        """As :meth:`room`."""

    async def unload(self, name: str, principal: str, *, operator: bool) -> None:
        """Let a model go. Raises UnknownModel, OperatorNeeded, ModelBusy."""

    async def sweep(self) -> None:
        """Let go what was unused for long."""

    async def drain(self) -> None:
        """Drain all rooms; nothing is loaded from here on."""

    def close(self) -> None:
        """Close all rooms."""
