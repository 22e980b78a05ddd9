"""Allowance of a grammar's process: processor time, memory, and time by the clock.

The system enforces it, also inside native code: SIGPROF and SIGALRM end a process that does not
handle them, and an allocation beyond the limit fails, which ends it too.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from split_server.system_limits import limit_to

# The library compiles by recursion; on Linux a main thread's stack may grow into this at any time.
STACK_BYTES: Final = 112 << 20
POLITE: Final = 5
_LAST: Final = 19
# Seconds of processor time after which a reply's grammar makes way for everything else, and what
# each token adds to them.
_PATIENCE: Final = 0.5
_PATIENCE_PER_TOKEN: Final = 0.01


def deepen_stack() -> None:
    """Let the main thread's stack hold the library's recursion, as far as the system permits."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK_BYTES if most == resource.RLIM_INFINITY else min(STACK_BYTES, most)
    resource.setrlimit(resource.RLIMIT_STACK, (wanted, most))


def bound_memory(more: int) -> None:
    """At most ``more`` bytes than the process has now; no core dump, which would hold the schema.

    Where the system does not tell what it has (macOS), the limits of time bound it.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        pages = [int(field) for field in Path("/proc/self/statm").read_bytes().split()]
    except OSError:
        return
    page = resource.getpagesize()
    for kind, own, spare in (
        (resource.RLIMIT_AS, pages[0] * page, STACK_BYTES),
        (resource.RLIMIT_DATA, pages[5] * page, 0),
    ):
        limit_to(kind, own + more + spare)


class Allowance:
    """``cpu``: seconds of processor time to begin with, ``most`` that may add up."""

    def __init__(self, cpu: float, most: float) -> None:
        for number in (signal.SIGPROF, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu)
        self._most = most
        self._tokens = 0
        self._last = False

    def begin(self, seconds: float) -> None:
        """The next answer may take ``seconds`` by the clock."""
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def end(self) -> None:
        """The answer is ready."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def earn(self, cpu: float) -> None:
        """A token was chosen, which adds ``cpu``."""
        left, _ = signal.getitimer(signal.ITIMER_PROF)
        # Zero would turn the limit off.
        signal.setitimer(signal.ITIMER_PROF, min(max(left, 0.0) + cpu, self._most))
        self._tokens += 1
        patience = _PATIENCE + _PATIENCE_PER_TOKEN * self._tokens
        if not self._last and time.process_time() > patience:
            self._last = True
            make_way(_LAST)


def make_way(more: int = POLITE) -> None:
    """Leave the processors to whatever else wants them; where that is forbidden, share them."""
    with suppress(OSError):
        os.nice(more)
