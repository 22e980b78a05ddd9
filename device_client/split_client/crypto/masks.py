"""The ready masks of one session, each used for one state; what masks did so far."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from split_masks.device import Mask


@dataclass(slots=True)
class MaskTally:
    """The counts, added to where things happen. Each is written by one thread alone."""

    made: int = 0
    used: int = 0
    lost: int = 0
    encrypted: int = 0
    reason: str = ""


class Masks:
    """In memory alone, as their keys are: what a process leaves behind holds none. One thread makes
    them, another takes each of them once.

    ``pid``: of this process. In a fork of it there are none, where they would be used twice.
    """

    def __init__(self, tally: MaskTally | None = None, pid: Callable[[], int] = os.getpid) -> None:
        self.tally = tally or MaskTally()
        self._pid, self._owner = pid, pid()
        self._ready: deque[Mask] = deque()
        self._open = True

    def __len__(self) -> int:
        return len(self._ready)

    @property
    def open(self) -> bool:
        """Whether more are to be made."""
        return self._open

    def keep(self, mask: Mask) -> None:
        """One more is ready."""
        self._ready.append(mask)
        self.tally.made += 1

    def take(self) -> Mask | None:
        """A mask that is not given again; None where there is none."""
        if self._pid() != self._owner:
            self._ready.clear()
        try:
            return self._ready.popleft()
        except IndexError:
            return None

    def close(self) -> None:
        """Make no more; those that are ready may be used."""
        self._open = False

    def clear(self) -> None:
        """Forget what is left."""
        self._open = False
        self.tally.lost += len(self._ready)
        self._ready.clear()
