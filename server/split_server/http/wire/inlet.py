"""What arrives on one WebSocket, on its way to the parser in small pieces.

A frame costs about ten microseconds however short it is, so that one read of the event loop full of
one-byte fragments would hold everybody else up for most of a second.
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


class Inlet:
    """The ``transport`` of a WebSocket, which reads only while nothing waits to be parsed.

    ``parse`` takes a piece of at most 16 KB and returns how many small frames ended in it; beyond
    2,048 a second the next piece waits. Whoever pauses reading pauses the parser too.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        parse: Callable[[bytes], int],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._transport, self._parse, self._loop = transport, parse, loop
        self._waiting, self._size = bytearray(), SHORTEST_PIECE
        self._paused = self._closed = self._parsing = False
        self._reading = True
        self._timer: asyncio.TimerHandle | None = None
        self._allowance, self._counted_at = _AT_ONCE, loop.time()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def take(self, data: bytes) -> None:
        """Parse ``data`` after what came before it, now or soon."""
        self._waiting += data
        self._go_on()

    def pause_reading(self) -> None:
        """Parse nothing more and read nothing more."""
        self._paused = True
        self._set_reading()

    def resume_reading(self) -> None:
        """Parse what waits, then read on."""
        self._paused = False
        self._go_on()

    def drop(self) -> None:
        """Drop what waits: the connection is lost."""
        self._closed = True
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _go_on(self) -> None:
        # The parser itself may resume reading.
        if self._parsing:
            return
        self._parsing = True
        try:
            while self._waiting and not self._paused and self._timer is None:
                self._next_piece()
        finally:
            self._parsing = False
        self._set_reading()

    def _next_piece(self) -> None:
        piece = bytes(self._waiting[: self._size])
        del self._waiting[: self._size]
        frames = self._parse(piece)
        self._size = SHORTEST_PIECE if frames else min(2 * self._size, LONGEST_PIECE)
        rest = self._spend(frames)
        if rest > 0 and not self._closed:
            self._timer = self._loop.call_later(rest, self._rested)

    def _rested(self) -> None:
        self._timer = None
        self._go_on()

    def _spend(self, frames: int) -> float:
        """Seconds to wait after ``frames`` small ones."""
        now = self._loop.time()
        gained = (now - self._counted_at) * FRAMES_PER_SECOND
        self._allowance = min(_AT_ONCE, self._allowance + gained) - frames
        self._counted_at = now
        return -self._allowance / FRAMES_PER_SECOND

    def _set_reading(self) -> None:
        reading = not (self._waiting or self._paused or self._closed)
        if reading == self._reading or self._closed:
            return
        self._reading = reading
        if reading:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()
