"""Whose turn it is: one thread fills slots with layers, another computes with them in that order.

Fillings are numbered on and on, over passes: number n is layer n modulo the layers, in slot n
modulo the slots. The filler is ahead by as many as there are slots.
"""

from __future__ import annotations

import threading


class Turns:
    """Of ``layers`` layers in ``slots`` slots, for one filler and one taker on other threads."""

    def __init__(self, layers: int, slots: int) -> None:
        self._layers, self._slots = layers, slots
        self._changed = threading.Condition()
        # The number that is taken next: those below it are computed, or were given up.
        self._next = 0
        # Those below it are in their slots, or were given up.
        self._filled = 0
        self._fault: str | None = None
        self._closed = False

    def to_fill(self) -> int | None:
        """Wait until a slot is free; the number that it is for, None once all is over."""
        with self._changed:
            self._changed.wait_for(self._may_fill)
            return None if self._closed else self._filled

    def filled(self, number: int) -> None:
        """The slot of ``number`` has its layer."""
        with self._changed:
            # Another one is wanted where a pass was given up meanwhile.
            if number == self._filled:
                self._filled += 1
                self._changed.notify_all()

    def failed(self, number: int, reason: str) -> None:
        """It has not; nothing is filled before somebody asks for it again."""
        with self._changed:
            if number == self._filled:
                self._fault = reason
                self._changed.notify_all()

    def take(self, layer: int, seconds: float) -> int:
        """Wait for ``layer``; its number, whose slot stays as it is until :meth:`release`.

        Raises TimeoutError after ``seconds``, RuntimeError with the reason where it failed.
        """
        with self._changed:
            self._ask(layer)
            if not self._changed.wait_for(self._settled, seconds):
                raise TimeoutError
            if self._filled <= self._next:
                raise RuntimeError(self._fault or "the model is closed")
            return self._next

    def release(self) -> None:
        """The slot that was taken may be filled anew."""
        with self._changed:
            self._next += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing is filled any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _ask(self, layer: int) -> None:
        """Have ``layer`` be the next, and what failed tried once more."""
        if self._next % self._layers != layer:
            # Beyond the one that is perhaps being filled, which is then not counted.
            beyond = max(self._next, self._filled) + 1
            self._next = self._filled = beyond + (layer - beyond) % self._layers
        self._fault = None
        self._changed.notify_all()

    def _may_fill(self) -> bool:
        free = self._fault is None and self._filled < self._next + self._slots
        return free or self._closed

    def _settled(self) -> bool:
        return self._filled > self._next or self._fault is not None or self._closed
