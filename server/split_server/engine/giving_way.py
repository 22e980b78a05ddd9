"""A thread that loads a model gives way to the passes of those that are served.

Each operation of a pass lets the interpreter's lock go and takes it back, and waits up to 5 ms
for it, each time, where another thread runs Python: a step would take ten times as long. So a
loading thread sees at every call how long it has run beside the pass at hand, and waits for its
end when that is enough. What the libraries do meanwhile without the lock runs on.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from split_server.engine.device_turns import DeviceTurns

# Seconds, so that loading goes on beside passes that take minutes or hang.
_PATIENCE = 2.0
# What a library does for longer it most likely does without the interpreter's lock.
_LOCKED_SECONDS = 0.001
_own = threading.local()


@contextmanager
def giving_way(turns: DeviceTurns | None) -> Iterator[None]:
    """What the calling thread does inside waits, call by call, while somebody else computes; None
    or no model there: nobody does. Not in a turn of its own, and not within another one of these.
    """
    if turns is None or turns.empty:
        yield
        return

    _own.turns = turns
    before = sys.getprofile()
    sys.setprofile(_Look(turns))
    try:
        yield
    finally:
        sys.setprofile(before)
        _own.turns = None


class _Look:
    """Told of every call and return of a thread (sys.setprofile)."""

    __slots__ = ("_looked", "_number", "_spent", "_turns")

    def __init__(self, turns: DeviceTurns) -> None:
        self._turns = turns
        self._looked = time.perf_counter()
        # Beside the turn of that number, in seconds.
        self._number, self._spent = 0, 0.0

    def __call__(self, _: object, event: str, __: object) -> None:
        now = time.perf_counter()
        since, self._looked = now - self._looked, now
        if self._number != self._turns.number:
            self._number, self._spent = self._turns.number, 0.0
        if event != "c_return" or since < _LOCKED_SECONDS:
            self._spent += since
        if self._spent > self._turns.allowance:
            waited = self._turns.stand_aside(_PATIENCE)
            if waited:
                _own.waited = _waited() + waited
                self._looked, self._spent = time.perf_counter(), 0.0


def given_way_to() -> DeviceTurns | None:
    """Those that the calling thread gives way to, for threads that work for it."""
    return getattr(_own, "turns", None)


def working_seconds() -> float:
    """A clock of the calling thread that stands still while it gives way: races are timed by it."""
    return time.perf_counter() - _waited()


def _waited() -> float:
    return getattr(_own, "waited", 0.0)
