"""Finds the principal of every request."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.security.access import AccessPolicy
from split_server.security.principal import set_principal
from split_server.security.public import PublicPaths
from split_server.security.refusal import refuse
from split_server.security.socket_token import take_tokens
from split_server.security.tokens import bearer_token
from split_wire.errors import Unauthorized

_EVERYWHERE = PublicPaths()


class Authenticate:
    """Pure ASGI: lets a request in with its principal, or answers 401.

    The token is that of the Authorization header, or of a WebSocket's subprotocols; a request with
    more than one is refused. Where none is asked for they are ignored: client libraries always
    send one.
    """

    def __init__(
        self, app: ASGIApp, policy: AccessPolicy, public: PublicPaths = _EVERYWHERE
    ) -> None:
        self._app = app
        self._policy = policy
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in self._public:
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
        given = Headers(scope=scope).getlist("authorization")
        if scope["type"] == "websocket":
            given += [f"Bearer {token}" for token in take_tokens(scope)]
        if self._policy.tokens is None:
            return self._policy.everyone
        if len(given) != 1:
            return None
        found = self._policy.tokens.identify(given[0])
        return found if found is not None else self._device(given[0])

    def _device(self, authorization: str) -> str | None:
        token = bearer_token(authorization)
        return None if token is None else self._policy.device(token)
