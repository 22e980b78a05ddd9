"""Real sockets for the tests: upstreams of several tempers, a relay in the loop, small clients."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any

from split_relay import Address, Relay, RelayConfig
from tests.patience import PATIENCE

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
LOCAL = "127.0.0.1"
_PORTS = range(20_000, 32_000)
EVERYWHERE = "0.0.0.0"  # noqa: S104 - listening is the point; clients connect through 127.0.0.1


def run(main: Coroutine[Any, Any, None], seconds: float = PATIENCE) -> None:
    """Run one test body; a hang becomes a failure."""

    async def bounded() -> None:
        async with asyncio.timeout(seconds):
            await main

    asyncio.run(bounded())


def has_ipv6_loopback() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


class Upstream:
    """A server on 127.0.0.1 (or ``host``) that can be stopped and started on the same port."""

    def __init__(self, handler: Handler, host: str = LOCAL, port: int = 0) -> None:
        self.handler = handler
        self.host = host
        self.port = port
        self.accepted = 0
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def start(self, **options: Any) -> None:
        self._server = await asyncio.start_server(self._serve, self.host, self.port, **options)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Go away as a killed process does: every connection closes."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._open.values():
            writer.transport.abort()
        if self._open:
            await asyncio.wait(self._open)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = writer
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self.handler(reader, writer)
                writer.close()
                await writer.wait_closed()
        finally:
            writer.transport.abort()
            del self._open[task]


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


# As split-server answers a request without a token.
CHALLENGE = b'WWW-Authenticate: Bearer realm="gatelink"\r\n'


class Http:
    """Answers every request with one status, on kept connections unless told otherwise."""

    def __init__(self, status: int, *, close: bool = False) -> None:
        self.status = status
        self.close = close
        self.seen: list[bytes] = []
        self.asked = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            self.seen.append(await reader.readuntil(b"\r\n\r\n"))
            self.asked.set()
            await self.gate.wait()
            body = b"body of %d" % self.status
            writer.write(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n" % (self.status, len(body)))
            writer.write((CHALLENGE if self.status == 401 else b"") + b"\r\n")
            writer.write(body)
            await writer.drain()
            if self.close:
                return

    def paths(self) -> list[bytes]:
        return [request.split(b" ")[1] for request in self.seen]


@contextlib.asynccontextmanager
async def upstream(handler: Handler, host: str = LOCAL, port: int = 0) -> AsyncIterator[Upstream]:
    server = Upstream(handler, host, port)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def relay(
    upstream_port: int, *, host: str = LOCAL, upstream_host: str = LOCAL, **options: Any
) -> AsyncIterator[Relay]:
    daemon = Relay(config(upstream_port, host=host, upstream_host=upstream_host, **options))
    await daemon.start()
    try:
        yield daemon
    finally:
        await daemon.stop(grace=0)


def config(
    upstream_port: int, *, host: str = LOCAL, upstream_host: str = LOCAL, **options: Any
) -> RelayConfig:
    return RelayConfig(
        listen=Address(host, 0), upstream=Address(upstream_host, upstream_port), **options
    )


def port_of(daemon: Relay) -> int:
    return daemon.addresses[0].port


async def connect(
    port: int, host: str = LOCAL
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(host, port)


async def get(port: int, request: bytes = b"GET /chat HTTP/1.1\r\nHost: x\r\n\r\n") -> bytes:
    """Send one request on a connection of its own; return all that comes until the end."""
    reader, writer = await connect(port)
    try:
        writer.write(request)
        writer.write_eof()
        return await reader.read(-1)
    finally:
        await hang_up(writer)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()


def free_port() -> int:
    """A port on which nobody listens, below those that the system gives out by itself: no
    connection of another test gets it before it is used.
    """
    while True:
        port = secrets.choice(_PORTS)
        with contextlib.suppress(OSError), socket.socket() as sock:
            sock.bind((LOCAL, port))
            return port
