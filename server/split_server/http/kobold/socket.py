"""Kobold's WebSockets: one generation at a time, any number one after another."""

from __future__ import annotations

import contextlib
from typing import Any

from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnect

from split_server.compat.kobold.documents import error_event
from split_server.compat.kobold.errors import InvalidRequest, KoboldError
from split_server.compat.kobold.forms import Form
from split_server.compat.kobold.prompts import Prompts, request_name
from split_server.compat.turns import Turns
from split_server.http.kobold.aborts import Aborts
from split_server.http.kobold.answers import LARGE, parsed, reported_error
from split_server.http.kobold.reply import CANCELS, SocketReply
from split_server.http.wire.sockets import SocketPart, TrackedSocket
from split_server.security.principal import principal_of
from split_wire.errors import ShuttingDown

# Close codes from 4000 on are the application's (RFC 6455, 7.4.2): 4000 and the HTTP status.
_CLOSE_CODES = 4000


class KoboldSocket:
    """An ASGI application for one path."""

    def __init__(
        self,
        prompts: Prompts,
        form: Form,
        sockets: SocketPart,
        aborts: Aborts,
        max_context: int,
        large: Turns,
    ) -> None:
        """``large``: one large message is parsed at a time."""
        self.prompts, self.form, self.aborts = prompts, form, aborts
        self.max_context = max_context
        self.large = large
        self._sockets = sockets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket until it closes. Raises what is refused before it is accepted."""
        if self._sockets.draining:
            raise ShuttingDown
        principal = principal_of(scope)
        with self._sockets.enter(principal, scope, receive, send) as websocket:
            await websocket.accept()
            await _Conversation(self, principal, websocket, receive).serve()


class _Conversation:
    """The messages of one socket; ``receive`` does not count a silent client as idle."""

    def __init__(
        self, served: KoboldSocket, principal: str, websocket: TrackedSocket, receive: Receive
    ) -> None:
        self._served, self._principal = served, principal
        self._websocket, self._receive = websocket, receive

    async def serve(self) -> None:
        early: Any = None
        while True:
            message = early or await self._websocket.receive()
            if message["type"] != "websocket.receive":
                return
            name: str | None = None
            try:
                values = await self.values(message)
                name = request_name(values)
                early = await self._answer(values, len(message["text"].encode("utf-8", "replace")))
            except WebSocketDisconnect:
                return
            # The boundary of a message: one that fails must not end the others on its socket.
            except Exception as error:  # noqa: BLE001
                early = None
                await self._fail(reported_error(error), name)
                if self._served.form.closes:
                    return

    async def values(self, message: Any) -> dict[str, Any]:
        """The object in a message. Raises InvalidRequest, FrameTooLarge, Overloaded."""
        text = message.get("text")
        if text is None:
            raise InvalidRequest("binary where a JSON text is expected")
        data = text.encode("utf-8", "replace")
        with self._websocket.holding(len(data)), contextlib.ExitStack() as held:
            if len(data) >= LARGE:
                await self._served.large.take(self._principal)
                held.callback(self._served.large.give_back)
            return await parsed(data, self._served.max_context)

    async def _answer(self, values: dict[str, Any], size: int) -> Any:
        """Answer one message, which counts until its tokens are known; a message that came too late
        for its generation is returned.
        """
        kind = values.get("type") or "generate"
        if kind in CANCELS:
            return None
        if kind == "ping":
            await self._websocket.send_text('{"type": "pong"}')
            return None
        if kind != "generate":
            raise InvalidRequest("'type' must be generate, cancel, stop or ping")
        with self._websocket.holding(size):
            prepared = await self._served.prompts.prepare(self._principal, values)
        with self._served.aborts.entered(self._principal, prepared.request.key) as running:
            items = self._served.prompts.run(self._principal, prepared)
            reply = SocketReply(self._websocket, self._served.form, prepared, running)
            return await reply.serve(items, self._receive, self.values)

    async def _fail(self, error: KoboldError, name: str | None) -> None:
        await self._websocket.send_text(error_event(error, name).decode())
        if self._served.form.closes:
            await self._websocket.close(_CLOSE_CODES + error.status, error.code)
