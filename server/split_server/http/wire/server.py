"""Listening sockets, and a server on them until a signal."""

from __future__ import annotations

import os
import signal
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from starlette.types import ASGIApp

from split_server.errors import ServerError
from split_server.http.wire.bounds import bound_uvicorn
from split_server.http.wire.doors import DoorLimits, Doors
from split_server.http.wire.graceful import GracefulServer, WireConfig

_BACKLOG = 1024


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
) -> None:
    """Serve ``app`` until SIGINT or SIGTERM."""
    # uvicorn raises the signal again once it has stopped in order; the exit status is then 0.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    settings = uvicorn_config(app.asgi, app.max_message_bytes, grace_seconds, tls, limits)
    GracefulServer(settings, app.drain, on_started).run(sockets)


def _reason(error: OSError) -> str:
    """Without the address, which the library adds to its text."""
    return "in use" if error.errno is None else os.strerror(error.errno)


def _bind(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    both = family is socket.AF_INET6 and address == "::" and socket.has_dualstack_ipv6()
    return socket.create_server(
        (address, port), family=family, backlog=_BACKLOG, dualstack_ipv6=both
    )


def uvicorn_config(
    app: ASGIApp,
    max_frame_bytes: int,
    grace_seconds: float,
    tls: ssl.SSLContext | None = None,
    limits: DoorLimits | None = None,
) -> WireConfig:
    """Settings for an application that does its own logging; ``tls`` None is plain HTTP."""
    config = WireConfig(
        app,
        Doors(limits),
        tls,
        lifespan="on",
        log_config=None,
        access_log=False,
        # Its information lines hold query strings.
        log_level="warning",
        timeout_graceful_shutdown=max(1, round(grace_seconds)),
    )
    bound_uvicorn(max_frame_bytes, config)
    return config
