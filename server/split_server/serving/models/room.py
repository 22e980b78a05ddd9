"""A room: one served model with all that belongs to it, and its routes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from split_server.http.adapter_host import mounted_host
from split_server.http.adapters import adapter_routes
from split_server.http.cache import cache_routes
from split_server.http.memory import memory_routes
from split_server.http.metrics import metrics_routes
from split_server.http.original.routes import original_routes
from split_server.http.split.post import Forward
from split_server.http.split.stream import Stream
from split_server.http.split.weights import Weights
from split_server.http.text_apis import TextApis
from split_server.http.wire.errors import on_http_exception
from split_server.http.wire.side_door import SideDoor
from split_server.metrics.exposition import Metrics, Sources
from split_server.metrics.models import ModelCounts
from split_server.serving.models.shared import FAREWELL_SECONDS, Shared
from split_server.serving.parts import Parts
from split_server.sessions.own_cache import OwnCache

_log = logging.getLogger(__name__)


class Room:
    """``asgi``: the routes of the model, below ``/m/NAME``, guards outside; ``routes``: the same
    for whoever adds to them; ``texts``: None without text APIs.

    ``models``: of the whole server, for the metrics of the first room, None for those of another.
    Made on any thread; lives on the event loop from :meth:`start` on.
    """

    def __init__(
        self,
        name: str,
        parts: Parts,
        shared: Shared,
        models: Callable[[], Iterable[ModelCounts]] | None = None,
    ) -> None:
        self.name, self.parts = name, parts
        self._shared = shared
        self.sockets = shared.sockets.part()
        self.metrics = self._measured(models)
        self.texts = self._text_apis()
        self.routes = self._routes()
        self.asgi: ASGIApp = SideDoor(bare_app(self.routes), self.ollama)
        self._made, self._requests = time.monotonic(), 0

    @property
    def ollama(self) -> list[BaseRoute]:
        """Of a listener of Ollama's API alone."""
        return [] if self.texts is None else self.texts.ollama

    @property
    def mute(self) -> bool:
        """Whether it has no text APIs though the server has them: its tokenizer cannot be used."""
        return self.texts is None and self._shared.config.compat

    def warm_up(self) -> None:
        """Start the model's thread, and wait for its first passes, which may be long where they
        give way to those of another model.
        """
        self.parts.steps.warm_up()

    def start(self) -> None:
        """Serve, after :meth:`warm_up` at once."""
        self._shared.fit(self.parts)
        self.parts.steps.start()
        self.forget(self._shared.gone)
        if self._shared.leaving:
            self.parts.steps.refuse_newcomers()

    async def drain(self) -> None:
        """Refuse new steps, answer those under way, close the sockets, park the sessions.

        Steps that outlast the grace period are given up and answered with ``shutting_down``.
        """
        grace = self._shared.config.shutdown_grace
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self.parts.steps.stop()
                if self.parts.adapter_host is not None:
                    await self.parts.adapter_host.stop()
                await self.sockets.drain()
                return
        _log.warning("steps were still under way after %g s", grace)
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self.sockets.drain()

    def close(self) -> None:
        """End its threads and processes; after :meth:`drain`."""
        if self.parts.warm is not None:
            self.parts.warm.close()
        if self.parts.adapter_host is not None:
            self.parts.adapter_host.close()
        self.parts.framed.close()
        self.parts.original.close()
        if self.texts is not None:
            self.texts.close()
        if self.parts.compat is not None:
            self.parts.compat.close()

    def sweep(self) -> None:
        """Drop what was idle for too long."""
        self.parts.steps.sweep()
        if self.parts.adapter_host is not None:
            self.parts.adapter_host.sessions.sweep()

    def forget(self, gone: Callable[[str], bool]) -> None:
        """Drop the sessions of the principals that are ``gone``."""
        self.parts.steps.forget(gone)
        if self.parts.adapter_host is not None:
            self.parts.adapter_host.sessions.forget(gone)

    def used(self) -> float:
        """When a step last began or ended, by the monotonic clock; what is under way is so now."""
        if self._requests or self.metrics.steps.queued:
            return time.monotonic()
        return max(self._made, self.metrics.steps.used or 0.0)

    @contextmanager
    def visited(self) -> Iterator[None]:
        """A request is answered, which is a use."""
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1

    def _measured(self, models: Callable[[], Iterable[ModelCounts]] | None) -> Metrics:
        parts = self.parts
        sources = Sources(
            parts.steps,
            self.sockets.__len__ if models is None else self._shared.sockets.__len__,
            parts.reserved,
            self._shared.config.max_sessions,
            self._shared.ready,
            parts.memory,
            None if parts.compat is None else parts.compat.generator,
            models,
        )
        metrics = Metrics(sources)
        parts.steps.observe(metrics.steps)
        return metrics

    def _text_apis(self) -> TextApis | None:
        """The APIs that existing tools speak."""
        compat, steps = self.parts.compat, self.metrics.steps
        if compat is None:
            return None
        shared = self._shared
        return TextApis(compat, shared.bodies, self.sockets, lambda: steps.rows, shared.responses)

    def _routes(self) -> list[BaseRoute]:
        parts, bodies = self.parts, self._shared.bodies
        forward = Forward(parts.framed, parts.original, bodies, parts.original.max_request_bytes)
        stream = Stream(parts.framed, parts.original, self.sockets)
        shared = self._shared
        weights = Weights(parts.catalog, parts.manifest, shared.files, quota=shared.downloads)
        origins = shared.config.adapter_origin
        return [
            *metrics_routes(self.metrics.text),
            *([] if parts.memory is None else memory_routes(parts.memory)),
            *cache_routes(OwnCache(parts.steps.reuse, shared.reuses), bodies),
            *forward.routes(),
            *stream.routes(),
            *original_routes(parts.original, bodies),
            *weights.routes(),
            *adapter_routes(parts.adapters, parts.left_out, origins),
            *([] if parts.adapter_host is None else mounted_host(parts.adapter_host, bodies)),
            *([] if self.texts is None else self.texts.routes),
        ]


def bare_app(routes: list[BaseRoute]) -> Starlette:
    """An application of ``routes`` without guards."""
    app = Starlette(routes=routes, exception_handlers={HTTPException: on_http_exception})
    # A redirect would repeat the Host header of the request.
    app.router.redirect_slashes = False
    return app
