"""Paired devices as they were when the book was looked at last, for whoever may not wait for it.

The book may lie on a disk of the network. Who is paired is what the last look found, for as long as
it is fresh; where the book cannot be read, or not in time, nobody is let in by it, in words.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from split_server.looks import PATIENCE, Looks
from split_server.pairing.devices import Device, DeviceBook, identified
from split_server.pairing.errors import StateUnavailable, StateUnusable

# Seconds for which a look is believed: so long is a device let in that was revoked meanwhile.
FRESH = 2.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Found:
    """``begun``: when the look began, in seconds; ``trouble``: why the book could not be read."""

    begun: float
    devices: tuple[Device, ...] = ()
    trouble: StateUnusable | None = None


class KnownDevices:
    """Of ``book``. Lives on one event loop; ``clock`` in seconds."""

    def __init__(
        self,
        book: DeviceBook,
        clock: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE,
    ) -> None:
        self._book, self._clock = book, clock
        self._looks = Looks("paired-devices", self._look, patience)
        self._found = _Found(float("-inf"))
        self._told: str | None = None

    def close(self) -> None:
        """End its thread; nothing is waited for."""
        self._looks.close()

    async def look(self) -> None:
        """Read the book again where it was changed; waits no longer than a moment."""
        await self._looks.another()
        self._tell()

    async def principal(self, token: str) -> str | None:
        """The principal of the device that has ``token``, None for a token of nobody's.

        Raises StateUnavailable.
        """
        # It may be paired or revoked since the last look, at another server of this state.
        await self.look()
        if not self.fresh:
            raise StateUnavailable
        known = identified(self._found.devices, token)
        return None if known is None else known.principal

    def principals(self) -> frozenset[str] | None:
        """Of all paired devices; None where nobody knows."""
        if not self.fresh:
            return None
        return frozenset(device.principal for device in self._found.devices)

    @property
    def fresh(self) -> bool:
        """Whether it is known who is paired."""
        found = self._found
        return found.trouble is None and self._clock() - found.begun <= FRESH

    def _look(self) -> None:
        """On the thread."""
        begun = self._clock()
        try:
            self._found = _Found(begun, self._book.devices())
        except StateUnusable as error:
            self._found = _Found(begun, trouble=error)

    def _tell(self) -> None:
        """One line when devices are locked out, and one when they are let in again."""
        trouble = None
        if not self.fresh:
            trouble = str(self._found.trouble or f"{self._book.path}: the disk does not answer")
        if trouble is not None and self._told is None:
            _log.error("paired devices are locked out: %s", trouble)
        elif trouble is None and self._told is not None:
            _log.info("paired devices are let in again")
        self._told = trouble
