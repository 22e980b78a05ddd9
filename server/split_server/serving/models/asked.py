"""What a keeper asks of rooms, of memory, and of whatever loads models."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from split_server.serving.models.naming import NamedModel
from split_server.serving.parts import Parts


class Served(Protocol):
    """A loaded model with all that serves it."""

    @property
    def parts(self) -> Parts: ...
    def warm_up(self) -> None:
        """Make the first passes; it may block."""

    def start(self) -> None:
        """Begin to serve; on the event loop, where it does not block after :meth:`warm_up`."""

    async def drain(self) -> None:
        """Begin no steps, answer those under way, keep what sessions hold."""

    def close(self) -> None:
        """End threads and processes; it may block."""

    def used(self) -> float:
        """When it was used last, by ``time.monotonic``."""


class Ahead(Protocol):
    """A model that is about to be loaded, in one of several ``ways``, the dearest first."""

    @property
    def ways(self) -> tuple[object, ...]: ...
    def size(self, way: int) -> int:
        """Bytes that it takes in that way."""

    def lacking(self, way: int, *, waiting: bool = True) -> int:
        """Bytes that are missing for that way, at most 0 where none are; with ``waiting`` although
        what others keep for later makes way.
        """

    def make_way(self, way: int) -> None:
        """Have others give up what they keep for later."""


class Ground(Protocol):
    """The memory that all models are in."""

    def prepare(self, named: NamedModel) -> Ahead:
        """See what a model takes; on the thread that loads. Raises what is wrong with it."""

    def promised(self, size: int) -> AbstractContextManager[None]:
        """Keep ``size`` bytes for the model that is loaded meanwhile."""
