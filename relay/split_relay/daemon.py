"""The relay: accept, limit, connect, splice, count, and stop cleanly."""

from __future__ import annotations

import asyncio
import logging
import socket

from split_relay.address import Address, is_loopback
from split_relay.config import RelayConfig
from split_relay.counters import Counters, Snapshot, readable_bytes
from split_relay.errors import RelayError, TooManyConnections, UpstreamIsRelay
from split_relay.guard import TokenGuard
from split_relay.limits import ConnectionLimits
from split_relay.listen import bind, bound_address, leads_back
from split_relay.probe import scheme_of
from split_relay.refusal import Refusal
from split_relay.splice import End, Splice
from split_relay.throttle import Throttle
from split_relay.upstream import Upstream

_BACKLOG = 128
_MAX_REFUSALS = 64  # refused connections that may linger for their answer at once

logger = logging.getLogger("split_relay")


class Relay:
    """A TCP relay in the running event loop: ``await start()``, then ``await stop()``."""

    def __init__(self, config: RelayConfig) -> None:
        self._config = config
        self._counters = Counters()
        self._limits = ConnectionLimits(config.max_connections, config.max_per_address)
        self._guard = TokenGuard(config.upstream, seconds=config.connect_timeout)
        self._servers: list[asyncio.Server] = []
        self._serving: set[asyncio.Task[None]] = set()
        self._refusals = 0
        self._reporting: asyncio.Task[None] | None = None
        self._refused_log = Throttle(1.0)
        self.addresses: tuple[Address, ...] = ()

    @property
    def beyond_loopback(self) -> bool:
        """Whether other machines can reach the bound addresses."""
        return not all(is_loopback(address.host) for address in self.addresses)

    async def scheme(self, seconds: float) -> str | None:
        """``http`` or ``https``, as a probe found; None where the upstream does not answer in time.

        Without a guard nothing has asked the upstream yet, which takes up to ``seconds``.
        """
        return self._guard.scheme or await scheme_of(self._config.upstream, seconds)

    def snapshot(self) -> Snapshot:
        return self._counters.snapshot()

    async def start(self) -> None:
        """Bind, prove the upstream where that is required, and only then accept.

        Raises :class:`split_relay.errors.ListenFailed`,
        :class:`split_relay.errors.UpstreamIsRelay`,
        :class:`split_relay.errors.UpstreamUnavailable` or
        :class:`split_relay.errors.UpstreamUnprotected`; nothing stays open then.
        """
        sockets = bind(self._config.listen)
        try:
            self.addresses = tuple(map(bound_address, sockets))
            self._upstream = await self._reach_upstream()
            await self._listen(sockets)
        except BaseException:
            for sock in sockets:
                sock.close()
            self._guard.close()
            raise
        self._reporting = asyncio.create_task(self._report())

    async def stop(self, grace: float | None = None) -> None:
        """Accept nothing more, wait ``grace`` seconds for open connections, then drop them."""
        for server in self._servers:
            server.close()
        seconds = self._config.grace if grace is None else grace
        if self._serving and seconds > 0:
            logger.info("stopping: up to %g s for %d open connections", seconds, len(self._serving))
            await asyncio.wait(self._serving, timeout=seconds)
        self.abort()
        if self._reporting is not None:
            self._reporting.cancel()
        await asyncio.gather(
            *self._serving, *filter(None, (self._reporting,)), return_exceptions=True
        )
        self._guard.close()
        logger.info("stopped: %s", self.snapshot())

    def abort(self) -> None:
        """Drop every open connection at once."""
        for task in self._serving:
            task.cancel()

    async def _reach_upstream(self) -> Upstream:
        config = self._config
        if leads_back(config.upstream, self.addresses):
            raise UpstreamIsRelay(config.upstream)
        guarded = self.beyond_loopback and not config.open
        upstream = Upstream(
            config.upstream,
            seconds=config.connect_timeout,
            guard=self._guard if guarded else None,
        )
        if guarded:
            logger.info("checking that the server at %s asks for a token", config.upstream)
            await upstream.wait_until_proven(config.start_timeout)
        return upstream

    async def _listen(self, sockets: list[socket.socket]) -> None:
        loop = asyncio.get_running_loop()
        for sock in sockets:
            server = await loop.create_server(
                lambda: End(self._count_up, self._accept), sock=sock, backlog=_BACKLOG
            )
            self._servers.append(server)

    def _count_up(self, size: int) -> None:
        self._counters.bytes_up += size

    def _count_down(self, size: int) -> None:
        self._counters.bytes_down += size

    def _accept(self, client: End) -> None:
        self._counters.connections += 1
        task = asyncio.create_task(self._serve(client))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, client: End) -> None:
        try:
            with self._limits.slot(client.host):
                await self._relay(client)
        except TooManyConnections as error:
            self._counters.refused += 1
            await self._refuse(client, error)
        except RelayError as error:
            self._counters.upstream_failures += 1
            await self._refuse(client, error)
        finally:
            client.transport.abort()

    async def _relay(self, client: End) -> None:
        self._counters.active += 1
        try:
            upstream = await self._upstream.connect(self._count_down)
            await self._splice(client, upstream)
        finally:
            self._counters.active -= 1

    async def _splice(self, client: End, upstream: End) -> None:
        host = client.host
        started = asyncio.get_running_loop().time()
        splice = Splice(client, upstream, idle_timeout=self._config.idle_timeout)
        try:
            splice.start()
            await splice.finished
        finally:
            splice.abort()
            self._counters.idle_closed += splice.idle
            logger.info(
                "%s: %s up, %s down in %.1f s%s",
                host,
                readable_bytes(client.received),
                readable_bytes(upstream.received),
                asyncio.get_running_loop().time() - started,
                ", closed because nothing moved" if splice.idle else "",
            )

    async def _refuse(self, client: End, error: RelayError) -> None:
        if self._refused_log.allow():
            logger.warning("%s refused: %s", client.host, error)
        if self._refusals >= _MAX_REFUSALS:
            return
        self._refusals += 1
        try:
            refusal = Refusal(error)
            refusal.take(client.transport)
            await refusal.finished
        finally:
            self._refusals -= 1

    async def _report(self) -> None:
        last = self.snapshot()
        while True:
            await asyncio.sleep(self._config.report_every)
            if self.snapshot() != last:
                last = self.snapshot()
                logger.info("%s", last)
