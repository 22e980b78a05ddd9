"""What arrives on one connection, on its way to the parser in small pieces.

A frame costs about ten microseconds however short it is, so that one read of the event loop full of
one-byte fragments would hold everybody else up for most of a second. So would one full of pipelined
requests or of one-byte chunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

# A piece grows from the first to the last while no small frame is in it.
SHORTEST_PIECE, LONGEST_PIECE = 2048, 16384
# Frames below this many bytes of payload count; longer ones are bounded by what they carry.
SMALL_FRAME = 1024
FRAMES_PER_SECOND = 2048.0
_AT_ONCE = 256.0
# A peer that has gone is noticed only once all that it sent is parsed.
LONGEST_BEHIND = 30.0
# What a clock may be wrong by is no reason to wait.
_SHORTEST_REST = 1e-6


class Pace:
    """``per_second`` small frames, ``at_once`` of them in a row; ``clock`` in seconds."""

    def __init__(
        self,
        clock: Callable[[], float],
        per_second: float = FRAMES_PER_SECOND,
        at_once: float = _AT_ONCE,
    ) -> None:
        self._clock, self._per_second, self._at_once = clock, per_second, at_once
        self._allowance, self._counted_at = at_once, clock()

    def spend(self, frames: int) -> None:
        """So many have come."""
        now = self._clock()
        gained = (now - self._counted_at) * self._per_second
        self._allowance = min(self._at_once, self._allowance + gained) - frames
        self._counted_at = now

    def rest(self) -> float:
        """Seconds until more may come."""
        self.spend(0)
        return max(0.0, -self._allowance / self._per_second)


class Inlet:
    """The ``transport`` of a connection, which reads only while nothing waits to be parsed.

    ``parse`` takes a piece of at most 16 KB and returns how many small frames ended in it; beyond
    2,048 a second the next piece waits, and whoever is behind for 30 s is cut off. Whoever pauses
    reading pauses the parser too, and so does ``ready`` while it is false; :meth:`go_on` has it
    asked again. ``shared``: a pace that other
    connections keep as well.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        parse: Callable[[bytes], int],
        loop: asyncio.AbstractEventLoop,
        ready: Callable[[], bool] = lambda: True,
    ) -> None:
        self._transport, self._parse, self._loop = transport, parse, loop
        self._ready = ready
        self._waiting, self._size = bytearray(), SHORTEST_PIECE
        self._paused = self._closed = self._parsing = False
        self._reading = True
        self._timer: asyncio.TimerHandle | None = None
        self._behind_since: float | None = None
        self._pace = Pace(loop.time)
        self.shared: Pace | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def take(self, data: bytes) -> None:
        """Parse ``data`` after what came before it, now or soon."""
        self._waiting += data
        self.go_on()

    def pause_reading(self) -> None:
        """Parse nothing more and read nothing more."""
        self._paused = True
        self._set_reading()

    def resume_reading(self) -> None:
        """Parse what waits, then read on."""
        self._paused = False
        self.go_on()

    def drop(self) -> None:
        """Drop what waits: the connection is lost."""
        self._closed = True
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()

    def give_up(self) -> asyncio.Transport:
        """The transport, for another protocol: what waits is dropped, and it is read again."""
        self.drop()
        if not self._reading:
            self._transport.resume_reading()
        return self._transport

    def go_on(self) -> None:
        """Parse what waits as far as it may be, then read on."""
        # The parser itself may resume reading.
        if self._parsing:
            return
        self._parsing = True
        try:
            while self._may_parse():
                self._next_piece()
        finally:
            self._parsing = False
        self._set_reading()

    def _may_parse(self) -> bool:
        stopped = self._paused or self._closed or self._timer is not None
        return bool(self._waiting) and not stopped and self._ready() and not self._rests()

    def _rests(self) -> bool:
        """Whether there were too many small frames of late; it goes on by itself then."""
        paces = [self._pace] if self.shared is None else [self._pace, self.shared]
        rest = max(pace.rest() for pace in paces)
        if rest < _SHORTEST_REST:
            return False
        now = self._loop.time()
        self._behind_since = self._behind_since or now
        if now - self._behind_since > LONGEST_BEHIND:
            self.drop()
            self._transport.abort()
        else:
            self._timer = self._loop.call_later(rest, self._rested)
        return True

    def _next_piece(self) -> None:
        piece = bytes(self._waiting[: self._size])
        del self._waiting[: self._size]
        frames = self._parse(piece)
        self._size = SHORTEST_PIECE if frames else min(2 * self._size, LONGEST_PIECE)
        for pace in (self._pace, self.shared):
            if pace is not None:
                pace.spend(frames)

    def _rested(self) -> None:
        self._timer = None
        self.go_on()

    def _set_reading(self) -> None:
        if not self._waiting:
            self._behind_since = None
        reading = not (self._waiting or self._paused or self._closed)
        if reading == self._reading or self._closed:
            return
        self._reading = reading
        if reading:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()
