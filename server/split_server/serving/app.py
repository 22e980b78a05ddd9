"""The ASGI application: guards, routes, and what starts and stops with them.

It knows no address, certificate or signal: ``serving.process`` holds it, or whatever else manages a
process.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from split_server.http.health import Condition, Probes, condition_routes
from split_server.http.models import models_routes
from split_server.http.pairing import pairing_routes
from split_server.http.web.page import WebApp
from split_server.http.wire.access_log import AccessLog
from split_server.http.wire.errors import ErrorBoundary, on_http_exception
from split_server.http.wire.side_door import SideDoor
from split_server.metrics.load import SAMPLE_SECONDS
from split_server.pairing.pairing import Pairing
from split_server.security.access import AccessPolicy
from split_server.security.authenticate import Authenticate
from split_server.security.headers import SecurityHeaders
from split_server.security.host import HostGuard, OwnAddresses
from split_server.security.leases import LeaseGuard, Leases
from split_server.security.origin import OriginGuard
from split_server.serving.config import ServerConfig
from split_server.serving.engines.checkpoint import open_for
from split_server.serving.lifecycle.phases import Lifecycle
from split_server.serving.loading.loading import Loading
from split_server.serving.models.cards import Card, card_of
from split_server.serving.models.desk import ModelsDesk
from split_server.serving.models.directory import Directory
from split_server.serving.models.door import Door
from split_server.serving.models.keeper import Keeper
from split_server.serving.models.listing import ollama_listing, openai_listing
from split_server.serving.models.names import Named
from split_server.serving.models.naming import NamedModel, models_of, opening
from split_server.serving.models.picking import Picking
from split_server.serving.models.room import Room
from split_server.serving.models.served import Served
from split_server.serving.models.shared import Shared
from split_server.serving.opened import Opened
from split_server.serving.parts import Parts
from split_server.serving.settings.replica import require_replica
from split_server.serving.upkeep import Upkeep, access_upkeep, every, is_named
from split_server.threads import Threads
from split_wire.errors import ShuttingDown

_SWEEP_SECONDS, _REST_SECONDS = 10.0, 0.5
# What made way for sessions is computed again, no more often than this.
_WARM_SECONDS = 60.0
# Between looks for models that nobody uses.
_KEEP_SECONDS = 2.0


def build_app(
    config: ServerConfig,
    policy: AccessPolicy,
    pairing: Pairing | None = None,
    upkeep: Sequence[Upkeep] = (),
    opened: Opened | None = None,
) -> SplitApp:
    """The application of ``config``, its first model loaded and nothing started yet; ``opened``:
    what that names on disk, where that was opened already.

    Raises the errors of ``split_server.errors``.
    """
    require_replica(config, policy, adapter_host=config.adapter_host)
    return SplitApp(served_models(config, opened), config, policy, pairing, upkeep)


def served_models(config: ServerConfig, opened: Opened | None = None) -> Served:
    """The models of ``config``, the first of them loaded and the others looked at.

    Raises the errors of ``split_server.errors``.
    """
    models = models_of(config)
    # A folder that is wrong is told at the start, not to whoever asks for its model.
    cards = {named.name: _card_of(named) for named in models[1:]}
    loading = Loading(several=bool(cards))
    with opening(models[0].name, several=bool(cards)):
        parts = loading.parts(models[0], opened)
    served = Served(models=models, parts=parts, load=loading.parts, cards=cards)
    if not cards:
        return served
    return replace(
        served,
        keeper=lambda named, make, first: Keeper(named, make, first, loading, config.keep),
    )


def _card_of(named: NamedModel) -> Card:
    with opening(named.name, several=True):
        return card_of(open_for(named.config))


class SplitApp:
    """``asgi`` is what an ASGI server runs; ``drain`` is awaited before connections are closed,
    ``leave`` may come a while before.

    ``served``: the models; ``policy``: who may come in; ``pairing``: of devices, None without;
    ``upkeep``: what else runs while the application does.
    """

    def __init__(
        self,
        served: Served,
        config: ServerConfig,
        policy: AccessPolicy,
        pairing: Pairing | None = None,
        upkeep: Sequence[Upkeep] = (),
    ) -> None:
        self._policy, self._pairing = policy, pairing
        self._leases = Leases()
        stopped = lambda: served.parts.steps.vitals.stopped  # noqa: E731
        self._lifecycle = Lifecycle(stopped, warms_up=served.parts.warm is not None)
        self.condition = Condition(stopped, lambda: self._lifecycle.ready)
        self._drained = False
        self._pairing_thread = Threads("pairing", 1)
        self._shared = Shared(config, served.parts, lambda: self._lifecycle.ready)
        served.expect(self._shared)
        if policy.tokens is None:
            self._shared.gone = is_named
        self.first = served.first(self._shared, lambda: self.rooms.states())
        self.rooms = served.keeper(served.models, partial(self._made, served), self.first)
        self._shared.rooms = self.rooms.rooms
        self.directory = Directory(self.rooms, served.cards, time.time())
        self.directory.meet(self.first)
        self._upkeep = (
            every(_SWEEP_SECONDS, self._sweep),
            every(_REST_SECONDS, self._keep_rests),
            every(SAMPLE_SECONDS, self._sample),
            every(_KEEP_SECONDS, self.rooms.sweep),
            *([] if self.parts.warm is None else [every(_WARM_SECONDS, self._keep_warm)]),
            *access_upkeep(policy, pairing, self._leases, self._forget),
            *upkeep,
        )
        self._web = WebApp(self.parts.web, config.adapter_origin)
        self.asgi = Starlette(
            routes=self._routes(),
            middleware=self._guards(config),
            exception_handlers={HTTPException: on_http_exception},
            lifespan=self._lifespan,
        )
        # A redirect would repeat the Host header of the request.
        self.asgi.router.redirect_slashes = False

    @property
    def parts(self) -> Parts:
        """Of the first model."""
        return self.first.parts

    @property
    def max_message_bytes(self) -> int:
        """Of the longest message that any model takes."""
        return self._shared.max_message_bytes

    def _made(self, served: Served, named: NamedModel) -> Room:
        """The room of a model that is wanted; any thread."""
        room = served.made(named, self._shared)
        self.directory.meet(room)
        return room

    def _routes(self) -> list[BaseRoute]:
        """Of the root: the first model's, and what is the server's."""
        rooms, pairing = self.rooms, self._pairing
        lists = self.several and self._shared.config.compat
        return [
            *condition_routes(self.condition),
            *models_routes(ModelsDesk(rooms, self.directory), self._shared.bodies),
            *([] if pairing is None else pairing_routes(pairing, self._pairing_thread)),
            *(openai_listing(self.directory) if lists else []),
            *(ollama_listing(self.directory) if lists else []),
            *self.first.routes,
            *self._web.routes(),
        ]

    @property
    def several(self) -> bool:
        """Whether it serves more than one model."""
        return len(self.rooms.states()) > 1

    def _guards(self, config: ServerConfig) -> list[Middleware]:
        """From the outside in."""
        shared, public = self._shared, self._web.public
        rooms, first = self.rooms, self.first
        ollama = [*(ollama_listing(self.directory) if self.several else []), *first.ollama]
        return [
            Middleware(AccessLog, meter=self.first.metrics.answers),
            Middleware(SecurityHeaders),
            Middleware(Named, page=public),
            Middleware(Probes, condition=self.condition),
            Middleware(HostGuard, allowed=config.hosts, own=OwnAddresses()),
            Middleware(OriginGuard, allowed=config.origins, pages=public.pages),
            Middleware(Authenticate, policy=self._policy, public=public),
            Middleware(LeaseGuard, leases=self._leases),
            Middleware(ErrorBoundary),
            Middleware(Door, rooms=rooms, first=first, directory=self.directory, shared=shared),
            Middleware(Picking, rooms=rooms, first=first, bodies=shared.bodies),
            Middleware(SideDoor, routes=ollama),
        ]

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        self.first.start()
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
            self._shared.close()
            self._pairing_thread.close()
            if self._pairing is not None:
                self._pairing.known.close()
            self.rooms.close()

    def _forget(self, gone: Callable[[str], bool]) -> None:
        """Drop all that holds sessions or texts of the principals that are ``gone``."""
        for room in self.rooms.rooms():
            room.forget(gone)
        self._shared.responses.forget(gone)

    async def _sweep(self) -> None:
        for room in self.rooms.rooms():
            room.sweep()
        self._shared.responses.sweep()

    async def _keep_rests(self) -> None:
        for room in self.rooms.rooms():
            with suppress(ShuttingDown):
                await room.parts.steps.keep_rests()

    async def _keep_warm(self) -> None:
        if self.parts.warm is None:
            return
        try:
            await self.parts.warm.keep()
        finally:
            self._lifecycle.warmed()

    def exposition(self) -> bytes:
        """All metrics in Prometheus' text format; call it on the event loop."""
        return self.first.metrics.text()

    def load(self) -> float:
        """What of its limits is used, 0 to 1 (``split_load``), by the model that uses most; call it
        on the event loop.
        """
        return max(room.metrics.load.value() for room in self.rooms.rooms())

    async def _sample(self) -> None:
        for room in self.rooms.rooms():
            room.metrics.load.sample()

    def leave(self) -> None:
        """Want no new sessions any more: those that there are go on, and ``/ready`` says so."""
        self._lifecycle.leave()
        self._shared.leaving = True
        for room in self.rooms.rooms():
            room.parts.steps.refuse_newcomers()

    async def drain(self) -> None:
        """Refuse new steps, answer those under way, close the sockets; once."""
        if self._drained:
            return
        self._drained = True
        self.leave()
        await self.rooms.drain()
        await self._shared.drain()
