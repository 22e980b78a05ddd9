"""A thread that loads a model gives way to the passes of those that are served.

Each operation of a pass lets the interpreter's lock go and takes it back, and waits for it, each
time, where another thread runs Python; what that does without the lock takes cores and memory from
the pass. So a loading thread looks at every call whether somebody computes, and waits for the end
of that; the next pass then waits a while for it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from split_server.engine.device_turns import DeviceTurns

# Seconds, so that loading goes on beside passes that take minutes or hang, and for which it does
# then, of those.
_PATIENCE, _BESIDE = 2.0, 0.1
# What a pass may need as well: whoever holds their locks does not wait for it.
_LOCKING = frozenset({"logging", "split_server.kv.run_pool", "split_server.memory.shared"})
# Seconds for which the interpreter's lock is kept from whoever asks for it; usually 0.005.
_SWITCH = 0.0005
# Of a thread, up to 19: a tenth of the processor beside one of a pass. With less, where other
# programs want the processor, it would hold the interpreter's lock for long without running.
_NICE = 10
_own = threading.local()


@contextmanager
def giving_way(turns: DeviceTurns | None, *, gently: bool = False) -> Iterator[None]:
    """What the calling thread does inside waits, call by call, while somebody else computes; None
    or no model there: nobody does. Not in a turn of its own, and not within another one of these.

    ``gently``: its products do not get the processor before those of a pass; the thread, and those
    that it starts, stay so, so it has to be one that ends.
    """
    if turns is None or turns.empty:
        yield
        return

    if gently:
        _be_nice()
    _own.turns = turns
    before, interval = sys.getprofile(), sys.getswitchinterval()
    sys.setswitchinterval(min(interval, _SWITCH))
    sys.setprofile(_Look(turns))
    try:
        yield
    finally:
        sys.setprofile(before)
        sys.setswitchinterval(interval)
        _own.turns = None


def _be_nice() -> None:
    """On Linux a priority is a thread's, not a process's (setpriority(2))."""
    if sys.platform.startswith("linux"):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


class _Look:
    """Told of every call and return of a thread (sys.setprofile)."""

    __slots__ = ("_patient_from", "_turns")

    def __init__(self, turns: DeviceTurns) -> None:
        self._turns = turns
        # By the clock: before that it was waited for long enough.
        self._patient_from = 0.0

    def __call__(self, frame: FrameType, _: str, __: object) -> None:
        now = time.perf_counter()
        if now < self._turns.aside_from or now < self._patient_from or _locks(frame):
            return
        waited = self._turns.stand_aside(_PATIENCE)
        _own.waited = _waited() + waited
        if waited >= _PATIENCE:
            self._patient_from = time.perf_counter() + _BESIDE * waited


def _locks(frame: FrameType | None) -> bool:
    """Whether a lock may be held that a pass needs."""
    while frame is not None:
        if frame.f_globals.get("__name__") in _LOCKING:
            return True
        frame = frame.f_back
    return False


def given_way_to() -> DeviceTurns | None:
    """Those that the calling thread gives way to, for threads that work for it."""
    return getattr(_own, "turns", None)


def working_seconds() -> float:
    """A clock of the calling thread that stands still while it gives way: races are timed by it."""
    return time.perf_counter() - _waited()


def _waited() -> float:
    return getattr(_own, "waited", 0.0)
