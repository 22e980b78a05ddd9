"""Two connections joined into one: bytes, end of stream and back-pressure pass through."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

from split_relay.address import plain_host

# Bytes that may wait for a slow reader before the other end is no longer read. One read of the
# event loop (at most 256 KiB in CPython) can come on top, so a direction holds at most 320 KiB.
HIGH_WATER = 64 * 1024


class End(asyncio.Protocol):
    """One of the two connections of a splice.

    It does not read until it is joined, so nothing is buffered for a peer that may never come.
    ``count`` is called with the size of every piece that arrives.
    """

    transport: asyncio.Transport

    def __init__(
        self, count: Callable[[int], None], on_connect: Callable[[End], None] | None = None
    ) -> None:
        self._count = count
        self._on_connect = on_connect
        self._splice: Splice | None = None
        self._peer: End | None = None
        self.at_eof = False
        self.closed = False
        self.received = 0

    @property
    def host(self) -> str:
        """The IP address of the other side, or an empty text once that is unknown."""
        name = self.transport.get_extra_info("peername")
        return plain_host(str(name[0])) if name else ""

    def join(self, splice: Splice, peer: End) -> None:
        self._splice = splice
        self._peer = peer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.set_write_buffer_limits(high=HIGH_WATER)
        self.transport.pause_reading()
        _tune(self.transport.get_extra_info("socket"))
        if self._on_connect is not None:
            self._on_connect(self)

    def data_received(self, data: bytes) -> None:
        if self._splice is None or self._peer is None:
            return
        self.received += len(data)
        self._count(len(data))
        self._splice.touch()
        if not self._peer.transport.is_closing():
            self._peer.transport.write(data)

    def eof_received(self) -> bool:
        self.at_eof = True
        if self._splice is not None:
            self._splice.half_closed(self)
        return True  # the other direction stays open

    def pause_writing(self) -> None:
        # After its end of stream a transport must not be resumed: it would read the end again.
        if self._peer is not None and not self._peer.at_eof:
            self._peer.transport.pause_reading()

    def resume_writing(self) -> None:
        if self._splice is not None:
            self._splice.touch()
        if self._peer is not None and not self._peer.at_eof:
            self._peer.transport.resume_reading()

    def connection_lost(self, _exc: Exception | None) -> None:
        self.closed = True
        if self._splice is not None:
            self._splice.lost(self)


class Splice:
    """Joins a client and an upstream until both are closed, or nothing moved for too long.

    ``clock`` returns seconds and defaults to the event loop's time.
    """

    def __init__(
        self,
        client: End,
        upstream: End,
        *,
        idle_timeout: float,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._clock = clock or self._loop.time
        self._ends = (client, upstream)
        self._open = set(self._ends)
        self._idle_timeout = idle_timeout
        self._timer: asyncio.TimerHandle | None = None
        self._moved_at = self._clock()
        self.idle = False
        self.finished: asyncio.Future[None] = self._loop.create_future()

    def start(self) -> None:
        """Begin to read both ends."""
        client, upstream = self._ends
        client.join(self, upstream)
        upstream.join(self, client)
        self._watch(self._idle_timeout)
        for end in self._ends:
            if end.closed:
                self.lost(end)
            end.transport.resume_reading()

    def touch(self) -> None:
        """Note that something moved."""
        self._moved_at = self._clock()

    def half_closed(self, end: End) -> None:
        """Pass an end of stream on; after the second one nothing is left to carry."""
        client, upstream = self._ends
        peer = upstream if end is client else client
        self.touch()
        if client.at_eof and upstream.at_eof:
            self._close()
        elif not peer.transport.is_closing():
            peer.transport.write_eof()

    def lost(self, end: End) -> None:
        """One end is gone: let the other send what it still holds, then close it."""
        self._open.discard(end)
        if self._open:
            self._close()
        elif not self.finished.done():
            self._stop_watching()
            self.finished.set_result(None)

    def abort(self) -> None:
        """Drop both ends and whatever they hold."""
        for end in self._ends:
            end.transport.abort()

    def _close(self) -> None:
        for end in self._ends:
            end.transport.close()  # sends its buffer first

    def _watch(self, seconds: float) -> None:
        self._timer = self._loop.call_later(seconds, self._check_idle)

    def _check_idle(self) -> None:
        left = self._moved_at + self._idle_timeout - self._clock()
        if left > 0:
            self._watch(left)
            return
        self.idle = True
        self.abort()

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _tune(sock: Any) -> None:
    # A decode step is one small message each way: waiting to fill a packet would delay every token.
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A phone that left the network closes nothing; the kernel finds out.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
