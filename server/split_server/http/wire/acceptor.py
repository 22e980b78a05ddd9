"""Connections as they come: each has a place before anything is read of it, handshakes included."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import ssl
from collections.abc import Callable
from functools import partial

from split_server.http.wire.doors import Doors, Place
from split_wire.errors import Overloaded

HANDSHAKE_SECONDS = 10.0
# After an error of accept, such as that of a process out of file descriptors.
_PAUSE_SECONDS = 0.1
_log = logging.getLogger(__name__)


class Acceptor:
    """``make``: the protocol of a connection; ``tls``: None is plain HTTP."""

    def __init__(
        self,
        doors: Doors,
        tls: ssl.SSLContext | None,
        make: Callable[[Place], asyncio.Protocol],
    ) -> None:
        self._doors, self._tls, self._make = doors, tls, make
        self._accepting: list[asyncio.Task[None]] = []
        self._arriving: set[asyncio.Task[None]] = set()

    def start(self, sockets: list[socket.socket]) -> None:
        """Take connections of these listening sockets."""
        for listening in sockets:
            listening.setblocking(False)
            self._accepting.append(asyncio.create_task(self._accept(listening)))

    async def stop(self) -> None:
        """Take no more, and let go of those that are not there yet; the sockets may be closed."""
        tasks = [*self._accepting, *self._arriving]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, listening: socket.socket) -> None:
        failed = False
        while True:
            try:
                accepted, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                await _readable(listening)
                continue
            except OSError as error:
                if not failed:
                    _log.error("connections cannot be accepted: %s", error.strerror)
                failed = True
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            failed = False
            accepted.setblocking(False)
            self._admit(accepted, str(address[0]) if address else "")
            # The next one may be there already, and those that were accepted have their turn first.
            await asyncio.sleep(0)

    def _admit(self, accepted: socket.socket, address: str) -> None:
        try:
            place = self._doors.enter(address)
        except Overloaded as error:
            self._turn_away(accepted, error)
            return
        task = asyncio.create_task(self._connect(accepted, place))
        place.abort = task.cancel
        self._arriving.add(task)
        task.add_done_callback(partial(self._arrived, accepted, place))

    async def _connect(self, accepted: socket.socket, place: Place) -> None:
        """Shake hands; from then on the protocol gives the place back."""
        seconds = None if self._tls is None else HANDSHAKE_SECONDS
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._make(place), accepted, ssl=self._tls, ssl_handshake_timeout=seconds
            )
        except OSError:
            accepted.close()
            place.leave()

    def _arrived(self, accepted: socket.socket, place: Place, task: asyncio.Task[None]) -> None:
        """A task that is cancelled before its first step runs nothing of its own."""
        self._arriving.discard(task)
        if task.cancelled():
            accepted.close()
            place.leave()

    def _turn_away(self, accepted: socket.socket, error: Overloaded) -> None:
        with accepted, contextlib.suppress(OSError):
            if self._tls is None:
                accepted.send(_refusal(error))


async def _readable(listening: socket.socket) -> None:
    """Until there may be a connection. What accepts waits for nothing: a connection that was
    accepted would be lost, and stay open, where the waiting is cancelled.
    """
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()
    loop.add_reader(listening, heard.set)
    try:
        await heard.wait()
    finally:
        loop.remove_reader(listening)


def _refusal(error: Overloaded) -> bytes:
    said = {"code": error.code, "message": str(error), "retryable": True}
    body = json.dumps({"error": said}).encode()
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
