"""Connecting to the upstream, with retries while it starts, inside one time budget."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator

from split_relay.address import Address
from split_relay.errors import UpstreamUnavailable

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0


def backoff() -> Iterator[float]:
    """Pauses in seconds between attempts: doubled each time up to one second, without end."""
    pause = _FIRST_PAUSE
    while True:
        yield pause
        pause = min(2 * pause, _LONGEST_PAUSE)


async def dial(upstream: Address, seconds: float) -> socket.socket:
    """Return a connected, non-blocking socket.

    Tries every address that the host resolves to, again and again with growing pauses. Raises
    :class:`UpstreamUnavailable` after ``seconds``.
    """
    reason = "no answer"
    pauses = backoff()
    try:
        async with asyncio.timeout(seconds):
            while True:
                try:
                    return await _dial_once(upstream)
                except OSError as error:
                    reason = _plain_reason(error)
                await asyncio.sleep(next(pauses))
    except TimeoutError:
        raise UpstreamUnavailable(upstream, seconds, reason) from None


async def _dial_once(upstream: Address) -> socket.socket:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(upstream.host, upstream.port, type=socket.SOCK_STREAM)
    failure = OSError("the host name has no address")
    for family, kind, protocol, _, sockaddr in found:
        try:
            return await connect_to(family, kind, protocol, sockaddr)
        except OSError as error:
            failure = error
    raise failure


async def connect_to(
    family: int, kind: int, protocol: int, sockaddr: tuple[object, ...]
) -> socket.socket:
    """Connect one non-blocking socket to one resolved address; raises ``OSError``."""
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setblocking(False)
        await asyncio.get_running_loop().sock_connect(sock, sockaddr)
    except BaseException:  # cancelled or failed: nobody else will close it
        sock.close()
        raise
    return sock


def _plain_reason(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return error.strerror or str(error)
