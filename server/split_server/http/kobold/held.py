"""A JSON answer that holds something until it is sent."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from split_server.security.hanging_up import ABORT_EXTENSION

JSON = "application/json"
NO_STORE = {"Cache-Control": "no-store"}
STALL_SECONDS = 60.0
_AT_ONCE = 1 << 16


class HeldAnswer(Response):
    """``held`` closes once the last of it is taken, or its reader took nothing for ``stall``
    seconds and is cut off.
    """

    def __init__(self, content: bytes, held: ExitStack, stall: float = STALL_SECONDS) -> None:
        super().__init__(content, headers=NO_STORE, media_type=JSON)
        self._held, self._stall = held, stall

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it in parts: what is handed over at once is in memory until it is read."""
        del receive
        with self._held:
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            body = memoryview(self.body)
            for begun in range(0, max(len(body), 1), _AT_ONCE):
                part = bytes(body[begun : begun + _AT_ONCE])
                more = begun + _AT_ONCE < len(body)
                message = {"type": "http.response.body", "body": part, "more_body": more}
                try:
                    async with asyncio.timeout(self._stall):
                        await send(message)
                except TimeoutError:
                    scope.get("extensions", {}).get(ABORT_EXTENSION, lambda: None)()
                    return
