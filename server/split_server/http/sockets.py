"""The open WebSockets: how many a principal has, which are idle, and closing them all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketState

from split_server.http.errors import SERVICE_RESTART
from split_server.http.quota import Quota

GOING_AWAY = 1001
# Where the connection finds whom to tell how many bytes of an unfinished message it holds.
ARRIVING_EXTENSION = "split.arriving"


class TrackedSocket(WebSocket):
    """A WebSocket that is busy from one message until its handler asks for the next.

    It closes itself when nothing arrives for ``idle_seconds`` and when the server drains.
    """

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, sockets: Sockets, principal: str
    ) -> None:
        super().__init__(scope, receive=receive, send=send)
        self._sockets = sockets
        self._principal = principal
        self.waiting = False

    async def receive(self) -> Message:
        """The next message; ``websocket.disconnect`` once the socket is idle or draining."""
        if self._sockets.draining:
            return await self._leave(SERVICE_RESTART, "shutting down")
        self.waiting = True
        try:
            async with asyncio.timeout(self._sockets.idle_seconds):
                return await super().receive()
        except TimeoutError:
            return await self._leave(GOING_AWAY, "idle")
        finally:
            self.waiting = False

    def holding(self, size: int) -> AbstractContextManager[object]:
        """Count a message of ``size`` bytes while it is answered. Raises Overloaded."""
        return self._sockets.message_bytes.hold(self._principal, size)

    async def _leave(self, code: int, reason: str) -> Message:
        await self.close(code, reason)
        self.client_state = WebSocketState.DISCONNECTED
        return {"type": "websocket.disconnect", "code": code, "reason": reason}

    async def dismiss(self) -> None:
        """Close for the server's shutdown; its handler then receives a disconnect."""
        if self.application_state is WebSocketState.CONNECTED:
            await self.close(SERVICE_RESTART, "shutting down")


class Sockets:
    """``limit``: sockets per principal; ``idle_seconds``: how long one may say nothing;
    ``message_bytes``: of messages that a principal may have under way, ``arriving_bytes``: of those
    that are not whole yet.
    """

    def __init__(
        self, limit: int, idle_seconds: float, message_bytes: Quota, arriving_bytes: Quota
    ) -> None:
        self._quota = Quota(limit, "sockets")
        self._arriving = arriving_bytes
        self.idle_seconds = idle_seconds
        self.message_bytes = message_bytes
        self._open: set[TrackedSocket] = set()
        self._empty = asyncio.Event()
        self._empty.set()
        self.draining = False

    @contextmanager
    def enter(
        self, principal: str, scope: Scope, receive: Receive, send: Send
    ) -> Iterator[TrackedSocket]:
        """Keep track of one socket for a while. Raises Overloaded."""
        with self._quota.hold(principal), self._arriving.hold(principal, 0) as arriving:
            scope["extensions"][ARRIVING_EXTENSION] = arriving.resize
            socket = TrackedSocket(scope, receive, send, self, principal)
            self._open.add(socket)
            self._empty.clear()
            try:
                yield socket
            finally:
                del scope["extensions"][ARRIVING_EXTENSION]
                self._open.discard(socket)
                if not self._open:
                    self._empty.set()

    async def drain(self) -> None:
        """Close idle sockets, let busy ones send their answer, and wait until all are gone."""
        self.draining = True
        for socket in list(self._open):
            if socket.waiting:
                await socket.dismiss()
        await self._empty.wait()
