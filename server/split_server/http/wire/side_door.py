"""Requests of a second listener, for Ollama's clients: guards of the first, routes of its own."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.http.wire.errors import on_http_exception
from split_server.security.error_forms import OLLAMA_CLIENT


class Marked:
    """Pure ASGI, outside of all guards: says of each request that it came by the side door."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[OLLAMA_CLIENT] = True
        await self._app(scope, receive, send)


class SideDoor:
    """Pure ASGI, inside of all guards: requests that came by the side door reach ``routes`` alone,
    all others ``app``.
    """

    def __init__(self, app: ASGIApp, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._own = Starlette(routes=routes, exception_handlers={HTTPException: on_http_exception})
        # A redirect would repeat the Host header of the request.
        self._own.router.redirect_slashes = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._own if scope.get(OLLAMA_CLIENT) else self._app
        await app(scope, receive, send)
