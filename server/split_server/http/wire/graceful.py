"""The uvicorn server: when it takes connections, and how it leaves."""

from __future__ import annotations

import asyncio
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

import uvicorn
from starlette.types import ASGIApp

from split_server.http.wire.acceptor import Acceptor
from split_server.http.wire.bounds import bound_uvicorn
from split_server.http.wire.doors import Doors, Place
from split_server.http.wire.protocols import BoundedHttp

_POLL_SECONDS = 0.1
_LOADED_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Beside:
    """A further set of listening sockets, whose requests ``asgi`` answers; ``tls``: None is plain
    HTTP. ``doors``: who may have a connection there, None counts them with the first set's.

    ``throughout``: it takes connections while the application is loaded and until it has drained.
    """

    sockets: Sequence[socket.socket]
    asgi: ASGIApp
    tls: ssl.SSLContext | None = None
    doors: Doors | None = None
    throughout: bool = False


@dataclass(frozen=True, slots=True)
class Leaving:
    """``begin``: called once the server is to stop; for ``seconds`` after that it goes on."""

    begin: Callable[[], None]
    seconds: float


class Loading(Protocol):
    """An application that is not there yet, and answers for itself meanwhile.

    ``largest``: bytes of the longest message once it is there, before that None; ``open``: it has
    started.
    """

    @property
    def largest(self) -> int | None: ...
    def open(self) -> None: ...


class WireConfig(uvicorn.Config):
    """``doors``: who may have a connection; ``tls``: None is plain HTTP."""

    def __init__(
        self, app: ASGIApp, doors: Doors, tls: ssl.SSLContext | None, **settings: Any
    ) -> None:
        super().__init__(app, **settings)
        self.doors = doors
        self.tls = tls
        self._settings = settings

    def of(self, beside: Beside) -> WireConfig:
        """The same for another application, ready to be used."""
        doors = self.doors if beside.doors is None else beside.doors
        other = WireConfig(beside.asgi, doors, beside.tls, **self._settings)
        bound_uvicorn(self.ws_max_size, other)
        other.load()
        return other


@dataclass(frozen=True, slots=True)
class _Listener:
    acceptor: Acceptor
    sockets: Sequence[socket.socket]
    throughout: bool = False

    async def close(self) -> None:
        await self.acceptor.stop()
        for listening in self.sockets:
            listening.close()


class GracefulServer(uvicorn.Server):
    """Calls ``on_started`` when it serves, and on its way out waits for ``drain`` before it closes
    connections, so that steps under way are answered.

    ``loading``: takes connections before the application is there; ``leaving``: what comes before
    ``drain``. SIGTERM has that last its time; Ctrl-C, and any second signal, end it.
    """

    def __init__(
        self,
        config: WireConfig,
        drain: Callable[[], Awaitable[None]],
        on_started: Callable[[], None] = lambda: None,
        *beside: Beside,
        loading: Loading | None = None,
        leaving: Leaving | None = None,
    ) -> None:
        super().__init__(config)
        self._wire = config
        self._beside = beside
        self._listeners: list[_Listener] = []
        self._drain = drain
        self._on_started = on_started
        self._loading, self._leaving = loading, leaving
        self._hurried = self._left = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        acceptor = Acceptor(self._wire.doors, self._wire.tls, self._made_by(self._wire))
        main = _Listener(acceptor, sockets or [])
        self._listen(*(self._listener(each) for each in self._beside if each.throughout))
        if self._loading is not None:
            self._listen(main)
            if not await self._loaded(self._loading):
                return
        # uvicorn listens on none of them: it would read before a connection has a place.
        await super().startup([])
        if self._loading is None:
            self._listen(main)
        else:
            self._loading.open()
        self._listen(*(self._listener(each) for each in self._beside if not each.throughout))
        if not self.should_exit:
            self._on_started()

    async def _loaded(self, loading: Loading) -> bool:
        """Whether the application came before the end did."""
        counter = 0
        while loading.largest is None:
            if await self.on_tick(counter):
                return False
            counter += 1
            await asyncio.sleep(_LOADED_SECONDS)
        self.config.ws_max_size = loading.largest
        return True

    def _listen(self, *listeners: _Listener) -> None:
        for listener in listeners:
            self._listeners.append(listener)
            listener.acceptor.start([*listener.sockets])

    def _listener(self, beside: Beside) -> _Listener:
        # The application's own start and stop are the first set's to see to.
        config = self._wire.of(beside)
        acceptor = Acceptor(config.doors, config.tls, self._made_by(config))
        return _Listener(acceptor, beside.sockets, beside.throughout)

    def _made_by(self, config: uvicorn.Config) -> Callable[[Place], BoundedHttp]:
        def made(place: Place) -> BoundedHttp:
            return BoundedHttp(config, self.server_state, self.lifespan.state, place=place)

        return made

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """From now on the server stops; any thread."""
        if self.should_exit and not self._left and not self._hurried:
            self._hurried = True
            return
        self._hurried = self._hurried or sig == signal.SIGINT
        super().handle_exit(sig, frame)

    async def main_loop(self) -> None:
        await super().main_loop()
        if self._leaving is not None:
            await self._leave(self._leaving)

    async def _leave(self, leaving: Leaving) -> None:
        """Go on for a while: whoever sends work here is to learn that it had better not."""
        leaving.begin()
        loop = asyncio.get_running_loop()
        end, counter = loop.time() + leaving.seconds, 0
        while not self._hurried and (left := end - loop.time()) > 0:
            counter += 1
            await self.on_tick(counter)
            await asyncio.sleep(min(left, _POLL_SECONDS))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._left = True
        await self._close(throughout=False)
        draining = asyncio.ensure_future(self._drain())
        while not draining.done() and not self.force_exit:
            await asyncio.wait([draining], timeout=_POLL_SECONDS)
        draining.cancel()
        await self._close(throughout=True)
        await super().shutdown(sockets)

    async def _close(self, *, throughout: bool) -> None:
        for listener in self._listeners:
            if listener.throughout is throughout:
                await listener.close()
