"""Serves only requests that name this machine, so that a page behind a rebound name is refused.

DNS rebinding: a hostile page's own name is made to resolve to this machine, and its requests then
look same-origin to the browser. They still carry the hostile name in ``Host``.
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Callable, Collection, Iterable

import psutil
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.security.access import is_loopback
from split_server.security.authority import parse_authority
from split_server.security.refusal import refuse
from split_wire.errors import ForbiddenHost

_REFRESH_SECONDS = 10.0


def interface_addresses() -> list[str]:
    """The IP addresses of this machine's network interfaces."""
    every = psutil.net_if_addrs().values()
    return [entry.address for entries in every for entry in entries]


def lan_addresses() -> list[str]:
    """The IPv4 addresses under which other machines may reach this one."""
    every = psutil.net_if_addrs().values()
    found = [
        ipaddress.ip_address(entry.address)
        for entries in every
        for entry in entries
        if entry.family is socket.AF_INET
    ]
    return [str(address) for address in found if not (address.is_loopback or address.is_link_local)]


class OwnAddresses:
    """Addresses of this machine; looked up again on a miss, at most once in ten seconds."""

    def __init__(
        self,
        look_up: Callable[[], Iterable[str]] = interface_addresses,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look_up = look_up
        self._clock = clock
        self._known: frozenset[str] = frozenset()
        self._looked_at: float | None = None

    def __contains__(self, host: str) -> bool:
        address = _canonical(host)
        if address is None:
            return False
        if address not in self._known:
            self._refresh()
        return address in self._known

    def _refresh(self) -> None:
        passed = None if self._looked_at is None else self._clock() - self._looked_at
        if passed is not None and passed < _REFRESH_SECONDS:
            return
        self._looked_at = self._clock()
        found = (_canonical(address) for address in self._look_up())
        self._known = frozenset(address for address in found if address is not None)


def _canonical(text: str) -> str | None:
    """An IP address in its one spelling without a zone; None for anything else."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)


class HostGuard:
    """Pure ASGI: answers 403 unless ``Host`` is loopback, an own address or an allowed name."""

    def __init__(self, app: ASGIApp, allowed: Collection[str], own: OwnAddresses) -> None:
        self._app = app
        self._allowed = frozenset(name.lower().rstrip(".") for name in allowed)
        self._own = own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not self._is_ours(scope):
            await refuse(scope, receive, send, ForbiddenHost())
            return
        await self._app(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        given = Headers(scope=scope).getlist("host")
        authority = parse_authority(given[0]) if len(given) == 1 else None
        if authority is None:
            return False
        host = authority.host
        return is_loopback(host) or host in self._allowed or host in self._own
