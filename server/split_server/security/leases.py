"""Connections of those whose tokens can be taken back, so that they are cut at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from split_server.security.hanging_up import abort, hang_up
from split_server.security.principal import Credential, credential_of

_POLICY_VIOLATION, _TRY_LATER = 1008, 1013


@dataclass(frozen=True, slots=True)
class Farewell:
    """What a WebSocket is told that is cut: code and reason of its close (RFC 6455, 7.4)."""

    code: int
    reason: str


REVOKED = Farewell(_POLICY_VIOLATION, "revoked")
# The token may be good: whoever is told so may not throw it away.
LOCKED_OUT = Farewell(_TRY_LATER, "state_unavailable")


class Lease:
    """One request or WebSocket; after :meth:`cut` nothing is sent and nothing more is taken."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._goodbye: asyncio.Task[None] | None = None
        self._cut = False

    async def send(self, message: Message) -> None:
        """Pass ``message`` on unless the token was taken back."""
        if not self._cut:
            await self._send(message)

    async def receive(self) -> Message:
        """The next message, or that the peer is gone, which it is to be."""
        message = None if self._cut else await self._receive()
        if message is None or self._cut:
            return {"type": f"{self._scope['type']}.disconnect", "code": _POLICY_VIOLATION}
        return message

    def cut(self, farewell: Farewell = REVOKED) -> None:
        """Break the connection off; a WebSocket is told why if it reads at once.

        It waits for nobody: the goodbye has a task of its own.
        """
        if self._cut:
            return
        self._cut = True
        if self._scope["type"] == "websocket":
            self._goodbye = asyncio.create_task(hang_up(self._scope, self._say_why(farewell)))
        else:
            abort(self._scope)

    async def _say_why(self, farewell: Farewell) -> None:
        await self._send(
            {"type": "websocket.close", "code": farewell.code, "reason": farewell.reason}
        )


class Leases:
    """Open leases by credential."""

    def __init__(self) -> None:
        self._open: dict[Credential, set[Lease]] = {}

    def add(self, credential: Credential, lease: Lease) -> None:
        """Keep track of ``lease``."""
        self._open.setdefault(credential, set()).add(lease)

    def discard(self, credential: Credential, lease: Lease) -> None:
        """It has ended."""
        leases = self._open.get(credential, set())
        leases.discard(lease)
        if not leases:
            self._open.pop(credential, None)

    def keep(self, valid: Callable[[Credential], bool], farewell: Farewell = REVOKED) -> None:
        """Cut what belongs to any other credential, all at once."""
        gone = [credential for credential in self._open if not valid(credential)]
        for lease in [lease for credential in gone for lease in self._open[credential]]:
            lease.cut(farewell)


class LeaseGuard:
    """Pure ASGI, inside authentication: tracks what those with a token have open."""

    def __init__(self, app: ASGIApp, leases: Leases) -> None:
        self._app = app
        self._leases = leases

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        credential = credential_of(scope)
        if credential is None:
            await self._app(scope, receive, send)
            return
        lease = Lease(scope, receive, send)
        self._leases.add(credential, lease)
        try:
            await self._app(scope, lease.receive, lease.send)
        finally:
            self._leases.discard(credential, lease)
