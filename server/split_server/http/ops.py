"""``/health``, ``/ready`` and ``/metrics`` on a listener of their own, for whoever runs the server.

Health checks need no host and no token. Metrics keep the guard against rebound names, are for no
page of a browser whatever its origin, and beyond loopback are for whoever has a token.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.http.health import Condition, Probes, condition_routes
from split_server.http.metrics import metrics_routes
from split_server.http.wire.access_log import AccessLog
from split_server.http.wire.errors import ErrorBoundary, on_http_exception
from split_server.security.access import AccessPolicy
from split_server.security.authenticate import ADMITTED_EXTENSION, Authenticate
from split_server.security.headers import SecurityHeaders
from split_server.security.host import HostGuard, OwnAddresses
from split_server.security.origin import OriginGuard
from split_server.security.refusal import refuse
from split_wire.errors import ForbiddenOrigin


class Told(Protocol):
    """What is asked about. ``exposition``: its metrics as text, on the event loop."""

    @property
    def condition(self) -> Condition: ...
    def exposition(self) -> bytes: ...


def ops_app(told: Told, allowed: Collection[str], policy: AccessPolicy | None) -> ASGIApp:
    """Pure ASGI. ``allowed``: names of this machine beside its own; ``policy``: who may read
    metrics, None where everybody may.
    """
    now = Condition(lambda: told.condition.stopped(), lambda: told.condition.ready())
    guards = [
        Middleware(SecurityHeaders),
        # They come every second or two, and one that finds a server loading is no refusal to log.
        Middleware(Probes, condition=now),
        Middleware(AccessLog),
        Middleware(HostGuard, allowed=allowed, own=OwnAddresses()),
        Middleware(_NoPages),
        Middleware(OriginGuard, allowed=()),
        *([] if policy is None else [Middleware(Authenticate, policy=policy)]),
        Middleware(ErrorBoundary),
    ]
    app = Starlette(
        routes=[*condition_routes(now), *metrics_routes(lambda: told.exposition())],
        middleware=guards,
        exception_handlers={HTTPException: on_http_exception},
    )
    # A redirect would repeat the Host header of the request.
    app.router.redirect_slashes = False
    return _Strangers(app)


class _NoPages:
    """Refuses what names an origin, its own as well: no page is served here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and "origin" in Headers(scope=scope):
            await refuse(scope, receive, send, ForbiddenOrigin())
        else:
            await self._app(scope, receive, send)


class _Strangers:
    """Leaves every connection a stranger's, so that none of them can keep the next one out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        extensions: dict[str, Any] = scope.get("extensions", {})
        extensions.pop(ADMITTED_EXTENSION, None)
        await self._app(scope, receive, send)
