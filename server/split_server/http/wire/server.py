"""The uvicorn server: how it listens, its limits, and how it stops."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import uvicorn
from starlette.types import ASGIApp

from split_server.errors import ServerError
from split_server.http.wire.acceptor import Acceptor
from split_server.http.wire.doors import DoorLimits, Doors, Place
from split_server.http.wire.protocols import BoundedHttp
from split_server.http.wire.websocket import limits_of_frames

_BACKLOG = 1024
_POLL_SECONDS = 0.1


class Application(Protocol):
    """What a process serves; ``drain`` is awaited before connections are closed."""

    @property
    def asgi(self) -> ASGIApp: ...
    @property
    def max_message_bytes(self) -> int: ...
    async def drain(self) -> None: ...


class CannotListen(ServerError):
    """The address or port cannot be used."""

    code = "cannot_listen"

    def __init__(
        self, host: str, port: int, reason: str, settings: str = "--port or --host"
    ) -> None:
        super().__init__(
            f"cannot listen on {host} port {port}: {reason}; choose another {settings}"
        )


@dataclass(frozen=True, slots=True)
class Beside:
    """A second set of listening sockets, whose requests ``asgi`` answers; ``tls``: None is plain
    HTTP. It counts with the first towards the limits of connections, and stops with it.
    """

    sockets: Sequence[socket.socket]
    asgi: ASGIApp
    tls: ssl.SSLContext | None = None


def listen(host: str, port: int, settings: str = "--port or --host") -> list[socket.socket]:
    """Listening sockets on every address of ``host``; port 0 picks a free one for all of them.

    ``settings``: those that name host and port. Raises CannotListen.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise CannotListen(host, port, error.strerror or "no such host", settings) from error
    addresses = sorted({(family, address[0]) for family, _, _, _, address in found})
    sockets: list[socket.socket] = []
    try:
        for family, address in addresses:
            sockets.append(_bind(family, str(address), port))
            port = sockets[0].getsockname()[1]
    except OSError as error:
        for opened in sockets:
            opened.close()
        raise CannotListen(host, port, _reason(error), settings) from error
    return sockets


@contextmanager
def listening(
    host: str, port: int, settings: str = "--port or --host"
) -> Iterator[list[socket.socket]]:
    """:func:`listen`, and the sockets closed at the end."""
    sockets = listen(host, port, settings)
    try:
        yield sockets
    finally:
        for opened in sockets:
            opened.close()


def run_until_signal(
    app: Application,
    sockets: list[socket.socket],
    grace_seconds: float,
    tls: ssl.SSLContext | None,
    on_started: Callable[[], None],
    limits: DoorLimits,
    beside: Beside | None = None,
) -> None:
    """Serve ``app``, and what is ``beside`` it, until SIGINT or SIGTERM."""
    # uvicorn raises the signal again once it has stopped in order; the exit status is then 0.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    settings = uvicorn_config(app.asgi, app.max_message_bytes, grace_seconds, tls, limits)
    GracefulServer(settings, app.drain, on_started, beside).run(sockets)


def _reason(error: OSError) -> str:
    """Without the address, which the library adds to its text."""
    return "in use" if error.errno is None else os.strerror(error.errno)


def _bind(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    both = family is socket.AF_INET6 and address == "::" and socket.has_dualstack_ipv6()
    return socket.create_server(
        (address, port), family=family, backlog=_BACKLOG, dualstack_ipv6=both
    )


class WireConfig(uvicorn.Config):
    """``doors``: who may have a connection; ``tls``: None is plain HTTP."""

    def __init__(
        self, app: ASGIApp, doors: Doors, tls: ssl.SSLContext | None, **settings: Any
    ) -> None:
        super().__init__(app, **settings)
        self.doors = doors
        self.tls = tls
        self._settings = settings

    def of(self, app: ASGIApp) -> WireConfig:
        """The same for another application, ready to be used."""
        other = WireConfig(app, self.doors, None, **self._settings)
        other.load()
        return other


class GracefulServer(uvicorn.Server):
    """Calls ``on_started`` when it serves, and on its way out waits for ``drain`` before it closes
    connections, so that steps under way are answered."""

    def __init__(
        self,
        config: WireConfig,
        drain: Callable[[], Awaitable[None]],
        on_started: Callable[[], None] = lambda: None,
        beside: Beside | None = None,
    ) -> None:
        super().__init__(config)
        # With the sockets that are not uvicorn's to name.
        self._acceptors: list[tuple[Acceptor, Sequence[socket.socket] | None]] = [
            (Acceptor(config.doors, config.tls, self._protocol(config)), None)
        ]
        self._drain = drain
        self._on_started = on_started
        if beside is not None:
            # The application's own start and stop are the first's to see to.
            other = config.of(beside.asgi)
            acceptor = Acceptor(config.doors, beside.tls, self._protocol(other))
            self._acceptors.append((acceptor, beside.sockets))

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn listens on none of them: it would read before a connection has a place.
        await super().startup([])
        for acceptor, own in self._acceptors:
            acceptor.start(list(own or sockets or []))
        if not self.should_exit:
            self._on_started()

    def _protocol(self, config: uvicorn.Config) -> Callable[[Place], BoundedHttp]:
        def made(place: Place) -> BoundedHttp:
            return BoundedHttp(config, self.server_state, self.lifespan.state, place=place)

        return made

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for acceptor, own in self._acceptors:
            await acceptor.stop()
            for listening in own or sockets or []:
                listening.close()
        draining = asyncio.ensure_future(self._drain())
        while not draining.done() and not self.force_exit:
            await asyncio.wait([draining], timeout=_POLL_SECONDS)
        draining.cancel()
        await super().shutdown(sockets)


def uvicorn_config(
    app: ASGIApp,
    max_frame_bytes: int,
    grace_seconds: float,
    tls: ssl.SSLContext | None = None,
    limits: DoorLimits | None = None,
) -> WireConfig:
    """Settings for an application that does its own logging; ``tls`` None is plain HTTP.

    Headers that a proxy adds are not believed, because any local process could add them.
    """
    return WireConfig(
        app,
        Doors(limits),
        tls,
        http=BoundedHttp,
        lifespan="on",
        log_config=None,
        access_log=False,
        # Its information lines hold query strings.
        log_level="warning",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(grace_seconds)),
        **limits_of_frames(max_frame_bytes),
    )
