"""The gate: takes the requests of an application that is loaded meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from starlette.types import ASGIApp, Receive, Scope, Send

from split_server.http.health import Condition, is_probe
from split_server.http.ops import Told
from split_server.http.wire.server import Application
from split_server.metrics.readiness import early_exposition
from split_server.security.headers import SecurityHeaders
from split_server.security.refusal import refuse
from split_wire.errors import Overloaded


class Served(Application, Told, Protocol):
    """``leave``: want no new sessions any more."""

    def leave(self) -> None: ...


_LOADING = Condition()
_MOST_HELD = 256
_RETRY_SECONDS = 5.0


class Gate:
    """Pure ASGI. Health checks are answered at once, all other requests wait for the application,
    at most 256 of them.

    All but :meth:`hand_over` lives on the event loop.
    """

    def __init__(self) -> None:
        self._app: Served | None = None
        self._opened = asyncio.Event()
        self._held = 0
        self._announce: Callable[[], None] = lambda: None

    @property
    def condition(self) -> Condition:
        """Of the application, and before it is there that of a process that answers."""
        return _LOADING if self._app is None else self._app.condition

    def exposition(self) -> bytes:
        """Metrics of the application; before it is there, of the process."""
        return early_exposition() if self._app is None else self._app.exposition()

    @property
    def largest(self) -> int | None:
        """Bytes of its longest message."""
        return None if self._app is None else self._app.max_message_bytes

    def hand_over(self, app: Served, announce: Callable[[], None]) -> None:
        """This is what is served; ``announce`` is called once it is. Any thread."""
        self._announce = announce
        self._app = app

    def open(self) -> None:
        """The application has started: let in whoever waits."""
        self._opened.set()

    def started(self) -> None:
        """All its listeners take connections."""
        self._announce()

    def leave(self) -> None:
        """Of the application, where it is there."""
        if self._app is not None:
            self._app.leave()

    async def drain(self) -> None:
        """Of the application, where it is there."""
        if self._app is not None:
            await self._app.drain()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._opened.is_set() and scope["type"] != "lifespan":
            if is_probe(scope):
                await SecurityHeaders(_LOADING.answer(scope))(scope, receive, send)
                return
            if self._held >= _MOST_HELD:
                full = Overloaded("the model is still being loaded", _RETRY_SECONDS)
                await refuse(scope, receive, send, full)
                return
            await self._wait()
        await self._asgi()(scope, receive, send)

    async def _wait(self) -> None:
        self._held += 1
        try:
            await self._opened.wait()
        finally:
            self._held -= 1

    def _asgi(self) -> ASGIApp:
        if self._app is None:
            raise RuntimeError("the application starts before it was handed over")
        return self._app.asgi
