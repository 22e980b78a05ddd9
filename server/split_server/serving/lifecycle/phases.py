"""The phases of a server's life, as far as somebody outside asks: whether it wants new sessions."""

from __future__ import annotations

from collections.abc import Callable


class Lifecycle:
    """Lives on the event loop. ``stopped``: whether a fault has ended the model.

    A server is ready from its start, or from the end of its warm-up where it has one, until it
    leaves.
    """

    def __init__(self, stopped: Callable[[], bool], *, warms_up: bool = False) -> None:
        self._stopped = stopped
        self._started = self._leaving = False
        self._warm = not warms_up

    @property
    def ready(self) -> bool:
        """Whether new sessions are wanted. Any thread may ask."""
        return self._started and self._warm and not self._leaving and not self._stopped()

    def start(self) -> None:
        """The model takes steps."""
        self._started = True

    def warmed(self) -> None:
        """What was to be computed ahead is computed, or cannot be."""
        self._warm = True

    def leave(self) -> None:
        """The end is near; there is no way back."""
        self._leaving = True
