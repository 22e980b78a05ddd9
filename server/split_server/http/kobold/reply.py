"""One generation on a WebSocket, while its client may cancel it or leave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, cast

from starlette.types import Receive
from starlette.websockets import WebSocketDisconnect

from split_server.compat.kobold.documents import error_event
from split_server.compat.kobold.errors import Busy
from split_server.compat.kobold.forms import Form, Frame
from split_server.compat.kobold.prompts import Prepared, request_name
from split_server.compat.kobold.running import Item, Token
from split_server.compat.kobold.streaming import stream_reply
from split_server.http.kobold.aborts import Abortable
from split_server.http.kobold.answers import reported_error
from split_server.http.wire.sockets import TrackedSocket

CANCELS = ("cancel", "stop")
_Values = Callable[[Any], Awaitable[dict[str, Any]]]


class SocketReply:
    """Sends tokens on one task and reads the client's messages on another."""

    def __init__(
        self, websocket: TrackedSocket, form: Form, prepared: Prepared, running: Abortable
    ) -> None:
        self._websocket, self._form = websocket, form
        self._prepared, self._running = prepared, running

    async def serve(
        self, items: AsyncGenerator[Item, None], receive: Receive, values: _Values
    ) -> Any:
        """Send everything; a message that came after the last event is returned.

        Raises WebSocketDisconnect when the client leaves, and what ends the reply.
        """
        telling = asyncio.create_task(self._tell(items))
        incoming = asyncio.ensure_future(receive())
        try:
            while True:
                await asyncio.wait((telling, incoming), return_when=asyncio.FIRST_COMPLETED)
                if telling.done():
                    telling.result()
                    # Whoever waits next gets a message that is still to come.
                    return incoming.result() if incoming.done() else None
                await self._heed(incoming.result(), values)
                incoming = asyncio.ensure_future(receive())
        finally:
            telling.cancel()
            incoming.cancel()
            await asyncio.gather(telling, incoming, return_exceptions=True)

    async def _tell(self, items: AsyncGenerator[Item, None]) -> None:
        documents, encode = self._prepared.documents, self._form.encode

        def frames(item: Token) -> list[Frame]:
            return encode(documents, item)

        async with aclosing(items), aclosing(self._running.until(items)) as wanted:
            await stream_reply(wanted, documents, frames, self._send, self._send_event)

    async def _send(self, frames: list[Frame]) -> None:
        for frame in frames:
            if isinstance(frame, str):
                await self._websocket.send_text(frame)
            else:
                # Down to the transport nothing asks more of it than bytes; a copy takes long.
                await self._websocket.send_bytes(cast("bytes", frame))

    async def _send_event(self, event: bytes) -> None:
        await self._websocket.send_text(event.decode())

    async def _heed(self, message: Any, values: _Values) -> None:
        """Cancel as asked; anything else has to wait and is told so."""
        if message["type"] != "websocket.receive":
            raise WebSocketDisconnect
        name: str | None = None
        try:
            given = await values(message)
            name = request_name(given)
            self._cancel(given.get("type"), name)
        # The boundary of a message, as long as its answer cannot come between two frames.
        except Exception as error:
            if self._form.closes:
                raise
            await self._send_event(error_event(reported_error(error), name))

    def _cancel(self, kind: object, name: str | None) -> None:
        """Stop the generation that is meant. Raises Busy for anything but a cancel."""
        if kind not in CANCELS:
            raise Busy
        if name in (None, self._prepared.request.name):
            self._running.abort()
