"""A user's connection: frames over a WebSocket that breaks now and then."""

from __future__ import annotations

import asyncio

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from split_wire.messages import SUBPROTOCOL

_ANSWER_WITHIN = 120.0
_OPEN_WITHIN = 30.0


class LinkFailed(Exception):
    """The connection failed without the bench's doing; the text names how."""


class Link:
    """One connection at a time to the stream of the server at ``url``."""

    def __init__(self, url: str) -> None:
        self._url = "ws" + url.removeprefix("http") + "/api/v1/split/stream"
        self._socket: ClientConnection | None = None
        self.connections = 0

    async def exchange(self, frame: bytes) -> bytes:
        """Send ``frame``, connecting first where need be; the next message. Raises LinkFailed."""
        socket = await self._connected()
        try:
            await socket.send(frame)
            async with asyncio.timeout(_ANSWER_WITHIN):
                answer = await socket.recv()
        except ConnectionClosed as error:
            self._socket = None
            raise LinkFailed(f"socket_closed_{error.rcvd.code if error.rcvd else 1006}") from error
        except TimeoutError as error:
            self.cut()
            raise LinkFailed("no_answer_in_time") from error
        if isinstance(answer, str):
            raise LinkFailed("a text message")
        return answer

    async def send_and_cut(self, frame: bytes) -> None:
        """Send ``frame`` and break the connection before its answer. Raises LinkFailed."""
        socket = await self._connected()
        try:
            await socket.send(frame)
        except ConnectionClosed as error:
            self._socket = None
            raise LinkFailed(f"socket_closed_{error.rcvd.code if error.rcvd else 1006}") from error
        self.cut()

    def cut(self) -> None:
        """Break the connection without a word, as a lost network does."""
        if self._socket is not None:
            self._socket.transport.abort()
            self._socket = None

    async def close(self) -> None:
        """End the connection in order."""
        if self._socket is not None:
            await self._socket.close()
            self._socket = None

    async def _connected(self) -> ClientConnection:
        if self._socket is None:
            try:
                self._socket = await connect(
                    self._url,
                    subprotocols=[Subprotocol(SUBPROTOCOL)],
                    compression=None,
                    max_size=None,
                    proxy=None,
                    ping_interval=None,
                    open_timeout=_OPEN_WITHIN,
                )
            except (OSError, InvalidStatus, TimeoutError) as error:
                raise LinkFailed(f"no connection: {error}") from error
            self.connections += 1
        return self._socket
