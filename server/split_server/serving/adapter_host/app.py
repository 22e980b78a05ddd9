"""The ASGI application of an adapter host that runs by itself: guards, routes, start and stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from split_server.adapter_host.host import AdapterHost
from split_server.errors import ServerError
from split_server.http.adapter_host import AdapterHostRoutes
from split_server.http.health import health_routes
from split_server.http.pairing import pairing_routes
from split_server.http.wire.access_log import AccessLog
from split_server.http.wire.body import Bodies
from split_server.http.wire.errors import ErrorBoundary, on_http_exception
from split_server.http.wire.quota import Quota
from split_server.pairing.pairing import Pairing
from split_server.security.access import AccessPolicy
from split_server.security.authenticate import Authenticate
from split_server.security.headers import SecurityHeaders
from split_server.security.host import HostGuard, OwnAddresses
from split_server.security.leases import LeaseGuard, Leases
from split_server.security.origin import OriginGuard
from split_server.serving.adapter_host.config import AdapterHostConfig
from split_server.serving.upkeep import Upkeep, access_upkeep, every
from split_server.threads import Threads

_SWEEP_SECONDS = 10.0
_log = logging.getLogger(__name__)


class AdapterHostApp:
    """``asgi`` is what uvicorn runs; ``drain`` is awaited before connections are closed.

    ``policy``: who may come in; ``pairing``: of devices, None without; ``upkeep``: what else runs
    while the application does. ``failure``: why the host did not start, None otherwise.
    """

    # No WebSocket is spoken here.
    max_message_bytes = 64 * 1024

    def __init__(
        self,
        host: AdapterHost,
        config: AdapterHostConfig,
        policy: AccessPolicy,
        pairing: Pairing | None = None,
        upkeep: Sequence[Upkeep] = (),
    ) -> None:
        self.host = host
        self.failure: ServerError | None = None
        self._leases, self._pairing = Leases(), pairing
        self._upkeep = (
            every(_SWEEP_SECONDS, self._sweep),
            *access_upkeep(policy, pairing, self._leases, host.sessions.forget),
            *upkeep,
        )
        self._grace = config.shutdown_grace
        self._pairing_thread = Threads("pairing", 1)
        bodies = Bodies(Quota(config.max_queued_bytes, "bytes of messages"))
        self.asgi = Starlette(
            routes=[
                *health_routes(),
                *([] if pairing is None else pairing_routes(pairing, self._pairing_thread)),
                *AdapterHostRoutes(host, bodies).routes(),
            ],
            middleware=[
                Middleware(AccessLog),
                Middleware(SecurityHeaders),
                Middleware(HostGuard, allowed=config.allow_host, own=OwnAddresses()),
                Middleware(OriginGuard, allowed=config.allow_origin),
                Middleware(Authenticate, policy=policy),
                Middleware(LeaseGuard, leases=self._leases),
                Middleware(ErrorBoundary),
            ],
            exception_handlers={HTTPException: on_http_exception},
            lifespan=self._lifespan,
        )
        # A redirect would repeat the Host header of the request.
        self.asgi.router.redirect_slashes = False

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        try:
            await self.host.start()
        except ServerError as error:
            self.failure = error
            raise
        keeping = [asyncio.create_task(work()) for work in self._upkeep]
        try:
            yield
        finally:
            for task in keeping:
                task.cancel()
            await self.drain()
            self._pairing_thread.close()
            if self._pairing is not None:
                self._pairing.known.close()

    async def drain(self) -> None:
        """Refuse new queries, answer those under way within the grace period, end the workers."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._grace):
                    await self.host.stop()
                    return
            _log.warning("queries were still under way after %g s", self._grace)
        finally:
            self.host.close()

    async def _sweep(self) -> None:
        self.host.sessions.sweep()
