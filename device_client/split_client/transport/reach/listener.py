"""The identity of a listener behind an open port that does not answer as expected."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from typing import Literal, TypeAlias

from split_client.transport.endpoint import Endpoint

Kind: TypeAlias = Literal["http", "tls", "other", "silent", "closed"]
_FIRST_BYTES = 512
# Records of TLS (RFC 8446, 5.1): an alert, a handshake.
_TLS_RECORDS = (0x15, 0x16)


@dataclass(frozen=True, slots=True)
class Listener:
    """``banner``: the first line that it said, where it is text."""

    kind: Kind
    banner: str = ""


def identify(endpoint: Endpoint, seconds: float) -> Listener:
    """Ask in plain HTTP, and in TLS where that is not understood; no token is sent."""
    first = _plain_answer(endpoint, seconds)
    if first is None:
        return Listener("silent")
    if first.startswith(b"HTTP/"):
        # A port of TLS may explain itself in plain text.
        return Listener("tls" if speaks_tls(endpoint, seconds) else "http")
    if (first and first[0] in _TLS_RECORDS) or speaks_tls(endpoint, seconds):
        return Listener("tls")
    if not first:
        return Listener("closed")
    return Listener("other", first.decode("ascii", "replace").splitlines()[0])


def speaks_tls(endpoint: Endpoint, seconds: float) -> bool:
    """Whether a handshake succeeds when nothing is asked of the certificate."""
    try:
        with unverified(endpoint, seconds):
            return True
    except OSError:
        return False


def unverified(endpoint: Endpoint, seconds: float) -> ssl.SSLSocket:
    """A connection that proves nothing about its other end; for questions without secrets."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    raw = socket.create_connection((endpoint.host, endpoint.port), seconds)
    try:
        return context.wrap_socket(raw, server_hostname=endpoint.host)
    except BaseException:
        raw.close()
        raise


def question(endpoint: Endpoint) -> bytes:
    """A request for ``/health`` after which the server hangs up."""
    return (
        f"GET {endpoint.path}/health HTTP/1.1\r\nHost: {endpoint.authority}\r\n"
        "Connection: close\r\n\r\n"
    ).encode()


def _plain_answer(endpoint: Endpoint, seconds: float) -> bytes | None:
    """The first bytes, empty when it hangs up, None when it stays silent."""
    try:
        with socket.create_connection((endpoint.host, endpoint.port), seconds) as raw:
            raw.sendall(question(endpoint))
            return raw.recv(_FIRST_BYTES)
    except TimeoutError:
        return None
    except OSError:
        return b""
