"""A device that is refused a session goes elsewhere, before it waits."""

from __future__ import annotations

from collections.abc import Callable

from split_client.errors import ServerRefused
from split_wire.client import ClientProtocol
from split_wire.errors import CacheFull, Overloaded, TooManySessions

# Moves that nothing is waited for.
MOST_MOVES = 3
_FULL = frozenset({TooManySessions.code, Overloaded.code, CacheFull.code})


class Moving:
    """One opening of a session of ``protocol``. ``move`` has further connections go another way,
    and returns whether they do.
    """

    def __init__(self, protocol: ClientProtocol, move: Callable[[], bool]) -> None:
        self._protocol, self._move = protocol, move
        self._refusals = 0

    @property
    def waits(self) -> bool:
        """Whether the next question says that the device waits for a place."""
        return self._refusals >= MOST_MOVES

    def refused(self, error: ServerRefused) -> bool:
        """Whether the question may be asked again at once. Behind the last of those moves it is
        asked elsewhere too, but after a wait.
        """
        if error.code not in _FULL:
            return False
        # Made anew: whether the device waits is a part of it.
        self._protocol.forget()
        self._refusals = self._refusals + 1 if self._move() else MOST_MOVES + 1
        return self._refusals <= MOST_MOVES
