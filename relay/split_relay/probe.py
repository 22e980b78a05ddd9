"""Asking the upstream for its weights without a token: is that refused as a split-server does?"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from dataclasses import dataclass

from split_relay.address import Address
from split_relay.dial import connect_to, dial
from split_relay.errors import UpstreamUnavailable, UpstreamUnprotected

PROBE_PATH = "/weights/manifest.json"

_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})[ \r\n]")
_STATUS_BYTES = 16  # "HTTP/1.1 401 " and a little more
_HEAD_BYTES = 8192
_UNAUTHORIZED = 401
_END = b"\r\n\r\n"
# What a split-server asks for, so that the 401 of something in between proves nothing.
_CHALLENGE = re.compile(
    rb'^www-authenticate:[ \t]*Bearer[ \t]+realm="gatelink"[ \t]*\r$', re.I | re.M
)
_TLS_FIRST_BYTES = (0x15, 0x16)  # alert, handshake
_DRAIN_READS = 16


@dataclass(slots=True)
class Proof:
    """An upstream process that answered 401 with a split-server's challenge.

    ``connection`` is the one that it answered on. While that is open the same process is still
    there, so an upstream that was restarted with other rules cannot pass for the proven one.
    Without a connection (TLS, or the upstream closed it) the proof is good for one use.
    """

    scheme: str
    connection: socket.socket | None = None

    def alive(self) -> bool:
        """Whether the proven process still holds the connection open."""
        if self.connection is None:
            return False
        for _ in range(_DRAIN_READS):  # the rest of its answer is read and dropped
            try:
                data = self.connection.recv(65536)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
        return False

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()


async def probe(connected: socket.socket, upstream: Address, seconds: float) -> Proof:
    """Probe the very address that ``connected`` reached, on a connection of its own.

    Plain HTTP first; when the answer is not HTTP, TLS without verification: what matters is
    only whether a stranger gets in, and the phone checks the certificate itself. Raises
    :class:`UpstreamUnprotected`, or :class:`UpstreamUnavailable` when there is no answer in time
    or the upstream says that it is not ready (5xx).
    """
    try:
        async with asyncio.timeout(seconds):
            return await _probe(connected, upstream, seconds)
    except TimeoutError:
        reason = "it accepts connections but does not answer"
        raise UpstreamUnavailable(upstream, seconds, reason) from None
    except OSError as error:
        raise UpstreamUnavailable(upstream, seconds, error.strerror or str(error)) from error


async def scheme_of(upstream: Address, seconds: float) -> str | None:
    """``http`` or ``https``, whichever ``upstream`` answers in; None without an answer in time."""
    try:
        async with asyncio.timeout(seconds):
            with await dial(upstream, seconds) as connected:
                with await _another(connected) as sock:
                    if _is_http(await _plain_answer(sock, upstream)):
                        return "http"
                await _tls_answer(connected, upstream)
                return "https"
    except (OSError, UpstreamUnavailable):  # a TimeoutError is an OSError
        return None


async def _probe(connected: socket.socket, upstream: Address, seconds: float) -> Proof:
    sock = await _another(connected)
    kept = False
    try:
        first = await _plain_answer(sock, upstream)
        if _is_http(first):
            _judge(first, upstream, seconds)
            kept = True
            return Proof("http", sock)
    finally:
        if not kept:
            sock.close()
    _judge(await _tls_answer(connected, upstream), upstream, seconds)
    return Proof("https")


async def _another(connected: socket.socket) -> socket.socket:
    """A second connection to where the first one leads."""
    return await connect_to(
        connected.family, connected.type, connected.proto, connected.getpeername()
    )


def _request(upstream: Address) -> bytes:
    return f"GET {PROBE_PATH} HTTP/1.1\r\nHost: {upstream}\r\nAccept: */*\r\n\r\n".encode()


async def _plain_answer(sock: socket.socket, upstream: Address) -> bytes:
    """The beginning of the answer; empty when the upstream hangs up."""
    loop = asyncio.get_running_loop()
    first = b""
    try:
        await loop.sock_sendall(sock, _request(upstream))
        while not _enough(first):
            data = await loop.sock_recv(sock, 4096)
            if not data:
                break
            first += data
    except ConnectionError:
        return b""  # what a TLS server may do with plain text
    return first


async def _tls_answer(connected: socket.socket, upstream: Address) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    sock = await _another(connected)
    reader, writer = await asyncio.open_connection(
        sock=sock, ssl=context, server_hostname=upstream.host
    )
    try:
        writer.write(_request(upstream))
        first = b""
        while not _enough(first) and (data := await reader.read(4096)):
            first += data
        return first
    finally:
        writer.transport.abort()


def _enough(first: bytes) -> bool:
    """Whether this much of an answer can be judged: a 401 by its whole head."""
    if len(first) < _STATUS_BYTES:
        return False
    match = _STATUS.match(first)
    refused = match is not None and int(match[1]) == _UNAUTHORIZED
    return not refused or _END in first or len(first) >= _HEAD_BYTES


def _is_http(first: bytes) -> bool:
    return bool(first) and first[0] not in _TLS_FIRST_BYTES


def _judge(first: bytes, upstream: Address, seconds: float) -> None:
    """Return quietly for a split-server's own 401; raise what any other answer means."""
    match = _STATUS.match(first)
    if match is None:
        raise UpstreamUnprotected(upstream, "an answer that is not HTTP/1")
    status = int(match[1])
    if status >= 500:
        raise UpstreamUnavailable(upstream, seconds, f"it answers {status}")
    if status != _UNAUTHORIZED:
        raise UpstreamUnprotected(upstream, str(status))
    if not _CHALLENGE.search(first.partition(_END)[0] + b"\r\n"):
        raise UpstreamUnprotected(upstream, "a 401 of something else")
