"""One log line per request: method, path, status, time. Never a query, a header or a body."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_MAX_PATH = 200
_log = logging.getLogger(__name__)


class AccessLog:
    """Pure ASGI. Refusals are logged as information, everything else for debugging."""

    def __init__(self, app: ASGIApp, clock: Callable[[], float] = time.perf_counter) -> None:
        self._app = app
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        begun, status = self._clock(), 0

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            level = logging.INFO if status >= 400 else logging.DEBUG
            if _log.isEnabledFor(level):
                milliseconds = 1e3 * (self._clock() - begun)
                _log.log(level, "%s %d in %.1f ms", _line(scope), status, milliseconds)


def _line(scope: Scope) -> str:
    """Method and path; whatever is not printable in the path is escaped."""
    path = repr(scope["path"][:_MAX_PATH])[1:-1]
    return f"{scope.get('method', 'WEBSOCKET')} {path}"
