"""The ASGI application: guards, routes, and what starts and stops with them.

It knows no address, certificate or signal: ``serving.process`` holds it, or whatever else manages a
process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from split_server.http.adapter_host import mounted_host
from split_server.http.adapters import adapter_routes
from split_server.http.cache import cache_routes
from split_server.http.health import Condition, Probes, condition_routes
from split_server.http.memory import memory_routes
from split_server.http.metrics import metrics_routes
from split_server.http.original.routes import original_routes
from split_server.http.pairing import pairing_routes
from split_server.http.split.post import Forward
from split_server.http.split.stream import Stream
from split_server.http.split.weights import Weights
from split_server.http.text_apis import TextApis
from split_server.http.web.page import WebApp
from split_server.http.wire.access_log import AccessLog
from split_server.http.wire.body import Bodies
from split_server.http.wire.errors import ErrorBoundary, on_http_exception
from split_server.http.wire.quota import Quota
from split_server.http.wire.side_door import SideDoor
from split_server.http.wire.sockets import Sockets
from split_server.metrics.exposition import Metrics, Sources
from split_server.metrics.load import SAMPLE_SECONDS
from split_server.pairing.pairing import Pairing
from split_server.security.access import AccessPolicy
from split_server.security.authenticate import Authenticate
from split_server.security.headers import SecurityHeaders
from split_server.security.host import HostGuard, OwnAddresses
from split_server.security.leases import LeaseGuard, Leases
from split_server.security.origin import OriginGuard
from split_server.serving.config import ServerConfig
from split_server.serving.lifecycle.phases import Lifecycle
from split_server.serving.opened import Opened
from split_server.serving.parts import Parts
from split_server.serving.settings.replica import require_replica
from split_server.serving.startup import load_parts
from split_server.serving.upkeep import Forget, Upkeep, access_upkeep, every
from split_server.sessions.own_cache import OwnCache
from split_server.threads import Threads

_SWEEP_SECONDS = 10.0
# What made way for sessions is computed again, no more often than this.
_WARM_SECONDS = 60.0
_FILE_THREADS = 2
# A socket may outlive its sessions a little, so that a reply on its way still finds it.
_IDLE_MARGIN_SECONDS = 60.0
# A frame that is a little too large is told so; one far beyond closes its socket.
_FRAME_MARGIN = 64 * 1024
# For the answers to the steps that a shutdown gives up.
_FAREWELL_SECONDS = 1.0
# Messages of the largest size that one principal may have under way, unless it is configured.
_LARGEST_MESSAGES = 4
_log = logging.getLogger(__name__)


def build_app(
    config: ServerConfig,
    policy: AccessPolicy,
    pairing: Pairing | None = None,
    upkeep: Sequence[Upkeep] = (),
    opened: Opened | None = None,
) -> SplitApp:
    """The application of ``config``, loaded and not started yet; ``opened``: what it names on disk,
    where that was opened already.

    Raises the errors of ``split_server.errors``.
    """
    require_replica(config, policy, adapter_host=config.adapter_host)
    return SplitApp(load_parts(config, opened), config, policy, pairing, upkeep)


class SplitApp:
    """``asgi`` is what an ASGI server runs; ``drain`` is awaited before connections are closed,
    ``leave`` may come a while before.

    ``policy``: who may come in; ``pairing``: of devices, None without; ``upkeep``: what else runs
    while the application does.
    """

    def __init__(
        self,
        parts: Parts,
        config: ServerConfig,
        policy: AccessPolicy,
        pairing: Pairing | None = None,
        upkeep: Sequence[Upkeep] = (),
    ) -> None:
        self.parts = parts
        self._policy, self._pairing = policy, pairing
        self._leases = Leases()
        stopped = lambda: parts.steps.vitals.stopped  # noqa: E731
        self._lifecycle = Lifecycle(stopped, warms_up=parts.warm is not None)
        self.condition = Condition(stopped, lambda: self._lifecycle.ready)
        self._grace = config.shutdown_grace
        self._drained = False
        self._files = ThreadPoolExecutor(_FILE_THREADS, "files")
        self._pairing_thread = Threads("pairing", 1)
        self.max_message_bytes = max(
            parts.framed.max_frame_bytes + _FRAME_MARGIN, parts.original.max_request_bytes
        )
        largest = self.max_message_bytes
        queued = max(largest, config.max_queued_bytes or _LARGEST_MESSAGES * largest)
        self._message_bytes = Quota(queued, "bytes of messages")
        self._sockets = Sockets(
            config.max_sockets,
            config.session_ttl + _IDLE_MARGIN_SECONDS,
            self._message_bytes,
            Quota(queued, "bytes of unfinished messages"),
        )
        self._metrics = self._measured(parts, config.max_sessions)
        bodies = Bodies(self._message_bytes)
        self._texts = self._text_apis(parts, bodies)
        self._upkeep = (
            every(_SWEEP_SECONDS, self._sweep),
            every(SAMPLE_SECONDS, self._sample),
            *([] if parts.warm is None else [every(_WARM_SECONDS, self._keep_warm)]),
            *access_upkeep(policy, pairing, self._leases, *self._forgetting(parts)),
            *upkeep,
        )
        self._web = WebApp(parts.web, config.adapter_origin)
        self._adapter_origins = config.adapter_origin
        self.asgi = Starlette(
            routes=self._routes(parts, bodies),
            middleware=self._guards(config),
            exception_handlers={HTTPException: on_http_exception},
            lifespan=self._lifespan,
        )
        # A redirect would repeat the Host header of the request.
        self.asgi.router.redirect_slashes = False

    def _measured(self, parts: Parts, most_sessions: int) -> Metrics:
        sources = Sources(
            parts.steps,
            self._sockets.__len__,
            parts.reserved,
            most_sessions,
            lambda: self._lifecycle.ready,
            parts.memory,
            None if parts.compat is None else parts.compat.generator,
        )
        metrics = Metrics(sources)
        parts.steps.observe(metrics.steps)
        return metrics

    def _text_apis(self, parts: Parts, bodies: Bodies) -> TextApis | None:
        """The APIs that existing tools speak."""
        if parts.compat is None:
            return None
        metrics = self._metrics
        return TextApis(parts.compat, bodies, self._sockets, lambda: metrics.steps.rows)

    def _routes(self, parts: Parts, bodies: Bodies) -> list[BaseRoute]:
        forward = Forward(parts.framed, parts.original, bodies, parts.original.max_request_bytes)
        stream = Stream(parts.framed, parts.original, self._sockets)
        weights = Weights(parts.catalog, parts.manifest, self._files)
        return [
            *condition_routes(self.condition),
            *metrics_routes(self.exposition),
            *([] if parts.memory is None else memory_routes(parts.memory)),
            *cache_routes(OwnCache(parts.steps.reuse), bodies),
            *([] if self._pairing is None else pairing_routes(self._pairing, self._pairing_thread)),
            *forward.routes(),
            *stream.routes(),
            *original_routes(parts.original, bodies),
            *weights.routes(),
            *adapter_routes(parts.adapters, parts.left_out, self._adapter_origins),
            *([] if parts.adapter_host is None else mounted_host(parts.adapter_host, bodies)),
            *([] if self._texts is None else self._texts.routes),
            *self._web.routes(),
        ]

    def _guards(self, config: ServerConfig) -> list[Middleware]:
        """From the outside in."""
        return [
            Middleware(AccessLog, meter=self._metrics.answers),
            Middleware(SecurityHeaders),
            Middleware(Probes, condition=self.condition),
            Middleware(HostGuard, allowed=config.hosts, own=OwnAddresses()),
            Middleware(OriginGuard, allowed=config.origins, pages=self._web.public.pages),
            Middleware(Authenticate, policy=self._policy, public=self._web.public),
            Middleware(LeaseGuard, leases=self._leases),
            Middleware(ErrorBoundary),
            Middleware(SideDoor, routes=[] if self._texts is None else self._texts.ollama),
        ]

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self.parts.steps.start()
        host = self.parts.adapter_host
        if host is not None:
            await host.start()
        keeping = [asyncio.create_task(work()) for work in self._upkeep]
        self._lifecycle.start()
        try:
            yield
        finally:
            for task in keeping:
                task.cancel()
            if self.parts.warm is not None:
                self.parts.warm.close()
            await self.drain()
            if host is not None:
                host.close()
            self._files.shutdown(wait=False, cancel_futures=True)
            self._pairing_thread.close()
            if self._pairing is not None:
                self._pairing.known.close()
            self.parts.framed.close()
            self.parts.original.close()
            if self._texts is not None:
                self._texts.close()
            if self.parts.compat is not None:
                self.parts.compat.close()

    def _forgetting(self, parts: Parts) -> list[Forget]:
        """All that holds sessions or texts of principals."""
        host, texts = parts.adapter_host, self._texts
        return [
            parts.steps.forget,
            *([] if host is None else [host.sessions.forget]),
            *([] if texts is None else [texts.responses.forget]),
        ]

    async def _sweep(self) -> None:
        self.parts.steps.sweep()
        if self._texts is not None:
            self._texts.responses.sweep()
        if self.parts.adapter_host is not None:
            self.parts.adapter_host.sessions.sweep()

    async def _keep_warm(self) -> None:
        if self.parts.warm is None:
            return
        try:
            await self.parts.warm.keep()
        finally:
            self._lifecycle.warmed()

    def exposition(self) -> bytes:
        """All metrics in Prometheus' text format; call it on the event loop."""
        return self._metrics.text()

    def load(self) -> float:
        """What of its limits is used, 0 to 1 (``split_load``); call it on the event loop."""
        return self._metrics.load.value()

    async def _sample(self) -> None:
        self._metrics.load.sample()

    def leave(self) -> None:
        """Want no new sessions any more: those that there are go on, and ``/ready`` says so."""
        self._lifecycle.leave()
        self.parts.steps.refuse_newcomers()

    async def drain(self) -> None:
        """Refuse new steps, answer those under way, close the sockets; once.

        Steps that outlast the grace period are given up and answered with ``shutting_down``.
        """
        if self._drained:
            return
        self._drained = True
        self.leave()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._grace):
                await self.parts.steps.stop()
                if self.parts.adapter_host is not None:
                    await self.parts.adapter_host.stop()
                await self._sockets.drain()
                return
        _log.warning("steps were still under way after %g s", self._grace)
        with suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self._sockets.drain()
