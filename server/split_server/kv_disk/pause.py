"""Stays off a disk that does not work: one line when that begins, and ever longer pauses."""

from __future__ import annotations

import logging
from collections.abc import Callable

_SHORTEST, _LONGEST = 1.0, 300.0
_log = logging.getLogger(__name__)


class Pause:
    """``work``: what stops, in words; ``clock`` in seconds."""

    def __init__(self, work: str, clock: Callable[[], float]) -> None:
        self._work, self._clock = work, clock
        self._seconds = 0.0
        self._until = 0.0

    @property
    def over(self) -> bool:
        """Whether the disk may be tried."""
        return self._clock() >= self._until

    def failed(self, why: str) -> None:
        """The disk did not do what it was asked for."""
        if not self._seconds:
            _log.warning("%s pauses: %s", self._work, why)
        self._seconds = min(max(2 * self._seconds, _SHORTEST), _LONGEST)
        self._until = self._clock() + self._seconds

    def passed(self) -> None:
        """It did."""
        if self._seconds:
            _log.info("%s goes on", self._work)
        self._seconds = self._until = 0.0
