"""The open WebSockets: how many a principal has, which are idle, and closing them all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from split_server.http.wire.errors import SERVICE_RESTART
from split_server.http.wire.inlet import Pace
from split_server.http.wire.quota import Quota
from split_server.security.hanging_up import hang_up

GOING_AWAY = 1001
ABNORMAL_CLOSURE = 1006
# A peer that reads has taken the close frame by then.
FAREWELL_SECONDS = 2.0
# Where the connection finds whom to tell how many bytes of an unfinished message it holds.
ARRIVING_EXTENSION = "split.arriving"
# Where it finds the pace that all sockets of its principal keep together, in small frames.
PACE_EXTENSION = "split.pace"
PRINCIPAL_PER_SECOND, PRINCIPAL_AT_ONCE = 4096.0, 1024.0


class Holder(Protocol):
    """Whose a socket is. ``draining``: it takes no more messages; ``message_bytes``: of messages
    that a principal may have under way.
    """

    message_bytes: Quota

    @property
    def draining(self) -> bool: ...


class TrackedSocket(WebSocket):
    """A WebSocket that is busy from one message until its handler asks for the next.

    It closes itself when nothing arrives for ``idle_seconds`` and when the server drains.
    """

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, sockets: Holder, principal: str
    ) -> None:
        super().__init__(scope, receive=receive, send=send)
        self._next, self._write = receive, send
        self._sockets = sockets
        self.principal = principal
        self._loop = asyncio.get_running_loop()
        self._idle_since = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._goodbye: asyncio.Task[None] | None = None
        self.waiting = False

    async def receive(self) -> Message:
        """The next message; ``websocket.disconnect`` once the socket is idle or draining."""
        if self._sockets.draining:
            return await self._leave(SERVICE_RESTART, "shutting down")
        if self.client_state is not WebSocketState.CONNECTED:
            return await super().receive()
        self.waiting, self._idle_since = True, self._loop.time()
        try:
            message = await self._next()
        finally:
            self.waiting = False
        if message["type"] == "websocket.disconnect":
            self.client_state = WebSocketState.DISCONNECTED
        return message

    async def send_bytes(self, data: bytes) -> None:
        """Send one binary message. Raises WebSocketDisconnect.

        Like the inherited one without its checks of the order of messages, which every token
        would pay for.
        """
        try:
            await self._write({"type": "websocket.send", "bytes": data})
        except OSError as error:
            raise WebSocketDisconnect(ABNORMAL_CLOSURE) from error

    @contextmanager
    def closing_when_idle(self, seconds: float) -> Iterator[None]:
        """Close once no message has come for ``seconds`` while one was waited for.

        One timer for the whole life of the socket, because a timeout for each message is a cost
        of each token.
        """
        self._watch(seconds, seconds)
        try:
            yield
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _watch(self, seconds: float, rest: float) -> None:
        self._timer = self._loop.call_later(rest, self._check_idle, seconds)

    def _check_idle(self, seconds: float) -> None:
        rest = self._idle_since + seconds - self._loop.time() if self.waiting else seconds
        if rest > 0:
            self._watch(seconds, rest)
        else:
            self._goodbye = self._loop.create_task(self.dismiss(GOING_AWAY, "idle"))

    def holding(self, size: int) -> AbstractContextManager[object]:
        """Count a message of ``size`` bytes while it is answered. Raises Overloaded."""
        return self._sockets.message_bytes.hold(self.principal, size)

    async def _leave(self, code: int, reason: str) -> Message:
        await self.close(code, reason)
        self.client_state = WebSocketState.DISCONNECTED
        return {"type": "websocket.disconnect", "code": code, "reason": reason}

    async def dismiss(self, code: int, reason: str) -> None:
        """Close; its handler then receives a disconnect, also where the peer reads nothing."""
        if self.application_state is WebSocketState.CONNECTED:
            await hang_up(self.scope, self.close(code, reason), FAREWELL_SECONDS)


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
        self._open = _Open()
        # Of the principals that have sockets.
        self._paces: dict[str, Pace] = {}
        self.draining = False

    def __len__(self) -> int:
        """Sockets that are open."""
        return len(self._open)

    def part(self) -> SocketPart:
        """Some of the sockets, which can be closed without the others."""
        return SocketPart(self)

    @contextmanager
    def enter(
        self,
        principal: str,
        scope: Scope,
        receive: Receive,
        send: Send,
        holder: Holder | None = None,
    ) -> Iterator[TrackedSocket]:
        """Keep track of one socket for a while, whose ``holder`` is this where there is no other.

        Raises Overloaded.
        """
        with self._quota.hold(principal), self._arriving.hold(principal, 0) as arriving:
            scope["extensions"][ARRIVING_EXTENSION] = arriving.resize
            scope["extensions"][PACE_EXTENSION] = self._pace(principal)
            socket = TrackedSocket(scope, receive, send, holder or self, principal)
            self._open.add(socket)
            try:
                with socket.closing_when_idle(self.idle_seconds):
                    yield socket
            finally:
                del scope["extensions"][ARRIVING_EXTENSION]
                self._open.discard(socket)
                self._forget_paces()

    def _pace(self, principal: str) -> Pace:
        """Kept until what was too much is made up for, however often its sockets come and go."""
        if principal not in self._paces:
            clock = asyncio.get_running_loop().time
            self._paces[principal] = Pace(clock, PRINCIPAL_PER_SECOND, PRINCIPAL_AT_ONCE)
        return self._paces[principal]

    def _forget_paces(self) -> None:
        present = {socket.principal for socket in self._open}
        rested = {name for name, pace in self._paces.items() if not pace.rest()}
        for name in rested - present:
            del self._paces[name]

    async def drain(self) -> None:
        """Close idle sockets, let busy ones send their answer, and wait until all are gone."""
        self.draining = True
        await self._open.leave()


class SocketPart:
    """Those of ``sockets`` that belong together; limits are those of all."""

    def __init__(self, sockets: Sockets) -> None:
        self._all = sockets
        self._open = _Open()
        self._leaving = False
        self.message_bytes = sockets.message_bytes

    def __len__(self) -> int:
        """Sockets of this part that are open."""
        return len(self._open)

    @property
    def draining(self) -> bool:
        """Whether this part takes no more messages."""
        return self._leaving or self._all.draining

    @contextmanager
    def enter(
        self, principal: str, scope: Scope, receive: Receive, send: Send
    ) -> Iterator[TrackedSocket]:
        """As :meth:`Sockets.enter`."""
        with self._all.enter(principal, scope, receive, send, self) as socket:
            self._open.add(socket)
            try:
                yield socket
            finally:
                self._open.discard(socket)

    async def drain(self) -> None:
        """As :meth:`Sockets.drain`, of this part alone."""
        self._leaving = True
        await self._open.leave()


class _Open:
    """Sockets that are open."""

    def __init__(self) -> None:
        self._sockets: set[TrackedSocket] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    def __len__(self) -> int:
        return len(self._sockets)

    def __iter__(self) -> Iterator[TrackedSocket]:
        return iter(self._sockets)

    def add(self, socket: TrackedSocket) -> None:
        self._sockets.add(socket)
        self._empty.clear()

    def discard(self, socket: TrackedSocket) -> None:
        self._sockets.discard(socket)
        if not self._sockets:
            self._empty.set()

    async def leave(self) -> None:
        """Dismiss idle ones, and wait until all are gone."""
        idle = [socket for socket in self._sockets if socket.waiting]
        await asyncio.gather(*(socket.dismiss(SERVICE_RESTART, "shutting down") for socket in idle))
        await self._empty.wait()
