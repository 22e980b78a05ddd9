"""Finds the principal of every request."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.security.access import AccessPolicy
from split_server.security.principal import set_principal
from split_server.security.refusal import refuse
from split_wire.errors import Unauthorized

PUBLIC_PATHS = frozenset({"/health"})


class Authenticate:
    """Pure ASGI: lets a request in with its principal, or answers 401.

    Without tokens an Authorization header is ignored: client libraries always send one.
    """

    def __init__(self, app: ASGIApp, policy: AccessPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in PUBLIC_PATHS:
            await self._app(scope, receive, send)
            return
        principal = self._principal(scope)
        if principal is None:
            challenge = {"WWW-Authenticate": 'Bearer realm="gatelink"'}
            await refuse(scope, receive, send, Unauthorized(), challenge)
            return
        set_principal(scope, principal)
        await self._app(scope, receive, send)

    def _principal(self, scope: Scope) -> str | None:
        if self._policy.tokens is None:
            return self._policy.everyone
        given = Headers(scope=scope).getlist("authorization")
        return self._policy.tokens.identify(given[0]) if len(given) == 1 else None
