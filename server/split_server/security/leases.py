"""Connections of paired devices, so that those of a revoked one can be cut at once."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from split_server.security.principal import DEVICE_PREFIX, principal_of

ABORT_EXTENSION = "split.abort"
_POLICY_VIOLATION = 1008


class Lease:
    """One request or WebSocket of a device; after :meth:`cut` nothing of it is sent."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self._cut = False

    async def send(self, message: Message) -> None:
        """Pass ``message`` on unless the device was revoked."""
        if not self._cut:
            await self._send(message)

    async def cut(self) -> None:
        """Close the WebSocket, or break off the connection of the request."""
        self._cut = True
        if self._scope["type"] == "websocket":
            closing = {"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": "revoked"}
            await self._send(closing)
            return
        abort: Any = self._scope.get("extensions", {}).get(ABORT_EXTENSION)
        if abort is not None:
            abort()


class Leases:
    """Open leases by principal."""

    def __init__(self) -> None:
        self._open: dict[str, set[Lease]] = {}

    def add(self, principal: str, lease: Lease) -> None:
        """Keep track of ``lease``."""
        self._open.setdefault(principal, set()).add(lease)

    def discard(self, principal: str, lease: Lease) -> None:
        """It has ended."""
        leases = self._open.get(principal, set())
        leases.discard(lease)
        if not leases:
            self._open.pop(principal, None)

    async def keep(self, principals: Collection[str]) -> None:
        """Cut what belongs to any other principal."""
        for principal in [name for name in self._open if name not in principals]:
            for lease in list(self._open[principal]):
                # The other leases are cut even when this connection is already gone.
                try:
                    await lease.cut()
                except (OSError, RuntimeError):
                    continue


class LeaseGuard:
    """Pure ASGI, inside authentication: tracks what devices have open."""

    def __init__(self, app: ASGIApp, leases: Leases) -> None:
        self._app = app
        self._leases = leases

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = _device(scope)
        if principal is None:
            await self._app(scope, receive, send)
            return
        lease = Lease(scope, send)
        self._leases.add(principal, lease)
        try:
            await self._app(scope, receive, lease.send)
        finally:
            self._leases.discard(principal, lease)


def _device(scope: Scope) -> str | None:
    """The device that a request is of; None for other principals and for public paths."""
    try:
        principal = principal_of(scope)
    except KeyError:
        return None
    return principal if principal.startswith(DEVICE_PREFIX) else None
