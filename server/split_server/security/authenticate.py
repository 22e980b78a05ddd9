"""Finds the principal of every request."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.security.access import AccessPolicy
from split_server.security.principal import Credential, set_credential, set_principal
from split_server.security.public import PublicPaths
from split_server.security.refusal import refuse
from split_server.security.socket_token import take_tokens
from split_server.security.tokens import bearer_token
from split_wire.errors import SplitError, Unauthorized

# Where a connection is told that a request on it was let in.
ADMITTED_EXTENSION = "split.admitted"
_EVERYWHERE = PublicPaths()
# Of Anthropic's API, whose clients have a header of their own.
_KEYED = "/v1/messages"


class Authenticate:
    """Pure ASGI: lets a request in with its principal, or answers 401, and 503 where nobody knows
    whose token it is.

    The token is that of the Authorization header, of a WebSocket's subprotocols, or of X-Api-Key
    where clients of Anthropic's API send it; a request with more than one is refused. Where none is
    asked for they are ignored: client libraries always send one.
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
        try:
            let_in = await self._let_in(scope)
        except SplitError as refusal:
            await refuse(scope, receive, send, refusal)
            return
        if not let_in:
            challenge = {"WWW-Authenticate": 'Bearer realm="gatelink"'}
            await refuse(scope, receive, send, Unauthorized(), challenge)
            return
        admitted: Any = scope.get("extensions", {}).get(ADMITTED_EXTENSION)
        if admitted is not None:
            admitted()
        await self._app(scope, receive, send)

    async def _let_in(self, scope: Scope) -> bool:
        """Whether the request has a principal, which is recorded then. Raises SplitError where
        nobody knows.
        """
        given = Headers(scope=scope).getlist("authorization")
        if scope["type"] == "websocket":
            given += [f"Bearer {token}" for token in take_tokens(scope)]
        else:
            given += [key for key in _api_keys(scope) if key not in given]
        if self._policy.tokens is None:
            set_principal(scope, self._policy.everyone)
            return True
        if len(given) != 1:
            return False
        found = self._policy.tokens.credential(given[0]) or await self._device(given[0])
        if found is None:
            return False
        set_principal(scope, found.principal)
        set_credential(scope, found)
        return True

    async def _device(self, authorization: str) -> Credential | None:
        token = bearer_token(authorization)
        principal = None if token is None else await self._policy.device(token)
        return None if principal is None else Credential(principal)


def _api_keys(scope: Scope) -> list[str]:
    """The tokens of X-Api-Key as an Authorization header would have them."""
    path: str = scope["path"]
    if path != _KEYED and not path.startswith(_KEYED + "/"):
        return []
    return [f"Bearer {key}" for key in Headers(scope=scope).getlist("x-api-key")]
