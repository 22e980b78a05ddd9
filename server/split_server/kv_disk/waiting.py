"""Runs that wait to be written: until nobody has used their session for a moment."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

# More than a pool has runs.
MOST = 16_384


@dataclass(slots=True)
class _Group:
    """Names of last blocks of runs; ``at``: when their session was used last."""

    at: float
    names: list[bytes] = field(default_factory=list)


class Waiting:
    """Names alone, so that nothing is kept in memory because of them; usable from any thread.

    ``idle``: seconds without use; ``clock`` in seconds; ``most``: names that may wait, more are
    left out.
    """

    def __init__(self, idle: float, clock: Callable[[], float], most: int = MOST) -> None:
        self._idle, self._clock, self._most = idle, clock, most
        self._lock = threading.Lock()
        self._groups: OrderedDict[int, _Group] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, session: int, name: bytes) -> None:
        """The run whose last block has ``name`` waits for ``session`` to be idle."""
        with self._lock:
            if self._count >= self._most:
                return
            # What is kept while nobody uses the session is due with what waits already.
            group = self._groups.setdefault(session, _Group(self._clock()))
            group.names.append(name)
            self._count += 1

    def touch(self, session: int) -> None:
        """``session`` is in use."""
        # Without the lock: a dict's look-up is whole, and a moment more or less does not matter.
        group = self._groups.get(session)
        if group is not None:
            group.at = self._clock()

    def ended(self, session: int) -> None:
        """Nobody uses ``session`` any more."""
        group = self._groups.get(session)
        if group is not None:
            group.at = float("-inf")

    def due(self, *, all_of_them: bool = False) -> list[bytes]:
        """The names whose time has come, which wait no more."""
        deadline = float("inf") if all_of_them else self._clock() - self._idle
        with self._lock:
            ready = [key for key, group in self._groups.items() if group.at <= deadline]
            names = [name for key in ready for name in self._groups.pop(key).names]
            self._count -= len(names)
        return names
