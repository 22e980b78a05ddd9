"""Turns of several models on one device: whoever computes does so alone, fair by time used.

Start-time fair queueing (Goyal, Vin and Cheng 1996) over the seconds that passes take: of those
who wait, the one that has used least goes first, and idleness earns no credit. A model whose
devices are about to send their next token is waited for while it is behind by a pass or more
(anticipatory scheduling: Iyer and Druschel, SOSP 2001); otherwise one with short passes would get
one of them for each long pass of another model.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from split_server.engine.teams import release_team

# Of the pass that waits: how long it may be kept waiting for devices of another model.
_PATIENCE = 0.25
# Of the latest pass: how long the next one waits for threads that load a model, which stand aside
# during passes.
_ASIDE = 0.125


def _nothing() -> None:
    """Nobody has to be told."""


class Seat:
    """Of one model; all but what is said otherwise is on its thread. ``relief`` is called on any
    thread when its team of threads had better go, which :meth:`relieve` does.
    """

    def __init__(self, turns: DeviceTurns, relief: Callable[[], None]) -> None:
        self._turns = turns
        self.relief = relief
        # In seconds of virtual time: what was used so far, never behind those who are served.
        self.used = 0.0
        # Of the latest turn; until when its devices are expected to be back.
        self.latest = self.awaited = 0.0
        # For how many seconds it was.
        self.expected = 0.0
        # Since when it waits, by number; None while it does not.
        self.number: int | None = None
        self._depth = 0

    @contextmanager
    def turn(self, back_within: Callable[[], float] = lambda: 0.0) -> Iterator[None]:
        """Compute alone on the device; inside of a turn that goes on.

        ``back_within`` is asked at its end, unless that is a fault: seconds within which the next
        one is likely wanted.
        """
        if not self._depth:
            self._turns.take(self)
        self._depth += 1
        expected = 0.0
        try:
            yield
            if self._depth == 1 and not self._turns.alone:
                expected = back_within()
        finally:
            self._depth -= 1
            if not self._depth:
                self._turns.give_back(self, expected)

    def relieve(self) -> None:
        """Let the thread's team go."""
        self._turns.release()

    def leave(self) -> None:
        """No more turns."""
        self._turns.left(self)


class DeviceTurns:
    """Of one device in this process. ``clock`` in seconds; ``release``: lets the calling thread's
    team go.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        release: Callable[[], None] = release_team,
    ) -> None:
        self._clock = clock
        self.release = release
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._seats: list[Seat] = []
        self._holder: Seat | None = None
        # Whose turn was the latest, and when the one at hand began.
        self._last: Seat | None = None
        self._begun = 0.0
        # Where those are in virtual time who are served.
        self._now = 0.0
        # Those that stand aside, and until when they are left alone.
        self._aside = 0
        self._aside_until = 0.0
        # Since when somebody computes, or wants to and was kept waiting for long enough; by the
        # clock, infinite where nobody does. Any thread may read it.
        self.aside_from = math.inf

    def seat(self, relief: Callable[[], None] = _nothing) -> Seat:
        """For one more model, which :meth:`Seat.leave` takes away."""
        with self._changed:
            seat = Seat(self, relief)
            self._seats.append(seat)
            return seat

    def left(self, seat: Seat) -> None:
        """``seat`` wants no more turns."""
        with self._changed:
            self._seats.remove(seat)
            seat.awaited = 0.0
            if self._last is seat:
                self._last = None
            self._changed.notify_all()

    @property
    def empty(self) -> bool:
        """Whether there is no model."""
        return not self._seats

    @property
    def aside(self) -> int:
        """Threads that stand aside at the moment."""
        return self._aside

    @property
    def alone(self) -> bool:
        """Whether there is one model at most."""
        return len(self._seats) <= 1

    def take(self, seat: Seat) -> None:
        """Wait until it is the turn of ``seat``."""
        with self._changed:
            seat.number = next(self._numbers)
            seat.used, seat.awaited = max(seat.used, self._now), 0.0
            free = self._until(seat) <= 0.0
            before = self._began(seat) if free else None
            if self._holder is None:
                self.aside_from = self._aside_until
        if not free:
            before = self._waited(seat)
        if before is not None:
            before.relief()

    def give_back(self, seat: Seat, expected: float) -> None:
        """The turn of ``seat`` is over; its next one is ``expected`` within so many seconds."""
        ended = self._clock()
        with self._changed:
            seat.latest = ended - self._begun
            seat.used += seat.latest
            seat.awaited, seat.expected = ended + expected, expected
            self._holder = None
            if self._aside:
                self._aside_until = ended + _ASIDE * seat.latest
            waiting = any(one.number is not None for one in self._seats)
            self.aside_from = self._aside_until if waiting else math.inf
            if self._aside or len(self._seats) > 1:
                self._changed.notify_all()

    def stand_aside(self, patience: float) -> float:
        """Wait while somebody computes or is kept waiting, ``patience`` seconds at most; seconds
        waited. For threads that compute between turns.
        """
        begun = self._clock()
        if begun < self.aside_from:
            return 0.0
        # While it has a team as well, those of passes sleep between products.
        self.release()
        with self._changed:
            self._aside += 1
            self._changed.wait_for(lambda: self._clock() < self.aside_from, patience)
            self._aside -= 1
        return self._clock() - begun

    def _waited(self, seat: Seat) -> Seat | None:
        if not self.alone:
            # Whoever has the turn computes with a team of its own.
            self.release()
        with self._changed:
            while (wait := self._until(seat)) > 0.0:
                self._changed.wait(wait if wait < math.inf else None)
            return self._began(seat)

    def _began(self, seat: Seat) -> Seat | None:
        """``seat`` has the turn; who had the one before, if that was another one."""
        self._now = max(self._now, seat.used)
        self._holder, seat.number = seat, None
        self.aside_from = -math.inf
        before, self._last = self._last, seat
        self._begun = self._clock()
        return None if before is seat else before

    def _until(self, seat: Seat) -> float:
        """Seconds until ``seat``, which waits, may go if nothing changes; 0: now."""
        if len(self._seats) == 1 and not self._aside_until:
            return 0.0
        if self._holder is not None or self._first() is not seat:
            return math.inf
        now = self._clock()
        until = self._aside_until
        for other in self._seats:
            behind = seat.used - other.used
            worth = other.expected <= _PATIENCE * seat.latest
            if other.number is None and worth and behind >= other.latest > 0.0:
                until = max(until, other.awaited)
        return until - now

    def _first(self) -> Seat:
        waiting = [seat for seat in self._seats if seat.number is not None]
        return min(waiting, key=lambda seat: (seat.used, seat.number))
