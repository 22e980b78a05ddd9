"""The cause of a connection that did not come about, from its error and, where asked, by probes."""

from __future__ import annotations

import errno
import socket
import ssl
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

from split_client.errors import ClientError, ServerUnreachable, TlsMismatch
from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServers
from split_client.transport.proxies import has_proxy
from split_client.transport.reach import causes
from split_client.transport.reach.causes import Cause
from split_client.transport.reach.listener import identify, question, unverified

_NO_ROUTE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL)
_DAY = 86400.0
_HEAD_BYTES = 4096
_PROBE_SECONDS = 5.0
# X509_V_ERR_* of OpenSSL's x509_vfy.h.
_NOT_YET_VALID, _EXPIRED = 9, 10
_SELF_SIGNED = (18, 19)
_NO_ISSUER = (2, 20, 21)
_WRONG_NAME = (62, 64)


def unreachable(
    endpoint: Endpoint, error: BaseException, seconds: float, *, probe: bool = False
) -> ServerUnreachable:
    """The error to raise for ``error``, which kept a connection from coming about.

    ``seconds``: how long it was tried; ``probe``: whether the port may be asked what it is, which
    takes connections of its own.
    """
    return _raised(endpoint, cause_of(endpoint, error, seconds, probe=probe))


def cause_of(
    endpoint: Endpoint, error: BaseException, seconds: float, *, probe: bool = False
) -> Cause:
    """The same without an error of its own; behind a proxy only the proxy could be asked."""
    if has_proxy(endpoint):
        return causes.proxy_refuses(str(error) or type(error).__name__)
    return of_connection(endpoint, _origin(error), seconds, probe=probe)


def misunderstood(endpoint: Endpoint) -> ServerUnreachable | None:
    """The reason why a port that accepts connections does not answer plain HTTP as a server does;
    None where it speaks plain HTTP, or nobody can tell.
    """
    cause = None if endpoint.secure or has_proxy(endpoint) else of_plain_port(endpoint)
    return None if cause is None else _raised(endpoint, cause)


def of_connection(
    endpoint: Endpoint, error: BaseException, seconds: float, *, probe: bool
) -> Cause:
    """The cause of an ``error`` of look-up, connection or handshake."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return of_certificate(endpoint, error, probe=probe)
    if isinstance(error, ssl.SSLError) or (
        endpoint.secure and isinstance(error, ConnectionResetError | BrokenPipeError)
    ):
        return of_handshake(endpoint, error, seconds, probe=probe)
    return of_network(endpoint, error, seconds)


def of_network(endpoint: Endpoint, error: BaseException, seconds: float) -> Cause:
    """No connection, or no address to connect to."""
    if isinstance(error, socket.gaierror | UnicodeError):
        temporary = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
        said = causes.dns_unavailable if temporary else causes.unknown_host
        return said(endpoint.host)
    if isinstance(error, ConnectionRefusedError):
        return causes.nothing_listens(endpoint)
    if isinstance(error, TimeoutError):
        return causes.no_answer(endpoint, seconds)
    reason = _reason(error)
    if isinstance(error, OSError) and error.errno in _NO_ROUTE:
        return causes.no_route(endpoint.host, reason)
    return causes.not_connected(endpoint, reason)


def of_certificate(
    endpoint: Endpoint,
    error: ssl.SSLCertVerificationError,
    *,
    probe: bool,
    wall: Callable[[], float] = time.time,
    seconds: float = _PROBE_SECONDS,
) -> Cause:
    """A certificate that is refused; ``wall``: this machine's clock (Unix time)."""
    code = error.verify_code
    if code in (_EXPIRED, _NOT_YET_VALID):
        off = _clock_is_off(endpoint, seconds, wall) if probe else None
        if off is not None:
            return causes.clock_wrong(off / _DAY, expired=code == _EXPIRED)
        return causes.EXPIRED if code == _EXPIRED else causes.NOT_YET_VALID
    if code in _WRONG_NAME:
        return causes.wrong_name(endpoint.host)
    if code in (*_SELF_SIGNED, *_NO_ISSUER) and _is_pinned(endpoint):
        return causes.AUTHORITY_CHANGED
    if code in _SELF_SIGNED:
        return causes.SELF_SIGNED
    if code in _NO_ISSUER:
        return causes.UNKNOWN_AUTHORITY
    return causes.untrusted(error.verify_message)


def of_handshake(endpoint: Endpoint, error: BaseException, seconds: float, *, probe: bool) -> Cause:
    """A handshake that nobody refused and that did not come about."""
    if isinstance(error, TimeoutError):
        return causes.silent(seconds)
    if probe:
        found = identify(endpoint, min(seconds, _PROBE_SECONDS))
        if found.kind == "http":
            return causes.plain_http_here(endpoint)
        if found.kind == "other":
            return causes.not_http(found.banner)
    return causes.handshake_failed(_reason(error))


def of_plain_port(endpoint: Endpoint, seconds: float = _PROBE_SECONDS) -> Cause | None:
    """What stands at a port that does not answer plain HTTP, None where that cannot be told."""
    found = identify(endpoint, seconds)
    if found.kind == "tls":
        return causes.tls_here(endpoint)
    if found.kind == "other":
        return causes.not_http(found.banner)
    return None


def date_of(text: str) -> float | None:
    """An HTTP date (RFC 9110, 5.6.7) as Unix time."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _raised(endpoint: Endpoint, cause: Cause) -> ServerUnreachable:
    if cause.final:
        return TlsMismatch(
            endpoint.authority, cause.code, cause.message, cause.advice, endpoint.url
        )
    return ServerUnreachable(endpoint.authority, cause.message, cause.advice, endpoint.url)


def _is_pinned(endpoint: Endpoint) -> bool:
    try:
        known = KnownServers().find(endpoint)
    except ClientError:
        return False
    return known is not None and known.ca is not None


def _clock_is_off(endpoint: Endpoint, seconds: float, wall: Callable[[], float]) -> float | None:
    """Seconds between the two clocks if they are a day or more apart."""
    try:
        with unverified(endpoint, seconds) as secured:
            secured.sendall(question(endpoint))
            head = secured.recv(_HEAD_BYTES).decode("latin-1")
    except OSError:
        return None
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "date":
            date = date_of(value.strip())
            off = None if date is None else abs(wall() - date)
            return off if off is not None and off >= _DAY else None
    return None


def _origin(error: BaseException) -> BaseException:
    """The first of a chain of errors, which is the system's."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return error


def _reason(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) else None
    return text or str(error) or type(error).__name__
