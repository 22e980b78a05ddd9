"""TLS: whether it is spoken, and whether the certificate is good for this name and this day."""

from __future__ import annotations

import contextlib
import socket
import ssl

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, ok, problem, warning
from split_client.doctor.http import date_of
from split_client.doctor.listener import identify, question, unverified
from split_client.transport.endpoint import Endpoint
from split_client.transport.tls import tls_context

_DAY = 86400.0
_SOON_DAYS = 14
_HEAD_BYTES = 4096
# X509_V_ERR_* of OpenSSL's x509_vfy.h.
_NOT_YET_VALID, _EXPIRED = 9, 10
_SELF_SIGNED = (18, 19)
_WRONG_NAME = (62, 64)
_PAIR = (
    "a split server with a certificate of its own is paired with: split-server pair there, "
    "split-client pair here"
)


def check_tls(case: Case) -> Finding:
    """A handshake as a chat makes it, with the certificates that this machine trusts."""
    server = case.server
    if not server.secure:
        return _plain(server)
    try:
        with socket.create_connection((server.host, server.port), case.limits.connect) as raw:
            context = tls_context(server)
            with context.wrap_socket(raw, server_hostname=server.host) as secured:
                return _good(case, secured)
    except ssl.SSLCertVerificationError as error:
        return _untrusted(case, error)
    except OSError as error:
        return _no_handshake(case, error)


def _plain(server: Endpoint) -> Finding:
    if server.is_loopback:
        return ok("tls", "not used, and not needed on this machine")
    return warning(
        "tls",
        "not_encrypted",
        "plain HTTP: everybody on the way can read the traffic and the token",
        "use it in a network that you trust, or put the server behind TLS (https)",
    )


def _good(case: Case, secured: ssl.SSLSocket) -> Finding:
    certificate = secured.getpeercert() or {}
    ends = ssl.cert_time_to_seconds(str(certificate["notAfter"]))
    days = int((ends - case.wall()) // _DAY)
    version = secured.version() or "TLS"
    if days < _SOON_DAYS:
        return warning(
            "tls",
            "certificate_expires",
            f"{version}, the certificate ends in {days} days",
            "the server's owner has to renew it",
            days=days,
        )
    return ok("tls", f"{version}, the certificate is good for {days} more days", days=days)


def _untrusted(case: Case, error: ssl.SSLCertVerificationError) -> Finding:
    host = case.server.host
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        return _wrong_time(case, expired=error.verify_code == _EXPIRED)
    if error.verify_code in _WRONG_NAME:
        return problem(
            "tls",
            "certificate_name",
            f"the certificate belongs to another name than {host}",
            "use the name that the certificate is for, or get one for this name",
        )
    if error.verify_code in _SELF_SIGNED:
        return problem(
            "tls",
            "certificate_self_signed",
            "the certificate is signed by itself or by an authority that this machine does not "
            "know",
            f"{_PAIR}; if you know where it comes from, SSL_CERT_FILE=FILE trusts it; else do not "
            "go on",
        )
    return problem(
        "tls",
        "certificate_untrusted",
        f"the certificate is refused: {error.verify_message}",
        f"{_PAIR}; another server has to send its whole chain, and an authority of your own goes "
        "into SSL_CERT_FILE",
    )


def _wrong_time(case: Case, *, expired: bool) -> Finding:
    off = _clock_is_off(case)
    if off is not None:
        return problem(
            "tls",
            "clock_wrong",
            f"the certificate seems {'expired' if expired else 'not valid yet'} because this "
            f"machine's clock is {off / _DAY:.0f} days away from the server's",
            "set this machine's clock",
        )
    if expired:
        return problem(
            "tls",
            "certificate_expired",
            "the certificate has expired",
            "the server's owner has to renew it",
        )
    return problem(
        "tls",
        "certificate_not_yet_valid",
        "the certificate is not valid yet",
        "check the clock of the machine that made it",
    )


def _clock_is_off(case: Case) -> float | None:
    """Seconds between the two clocks if they are a day or more apart."""
    try:
        with unverified(case.server, case.limits.connect) as secured:
            secured.sendall(question(case.server))
            head = secured.recv(_HEAD_BYTES).decode("latin-1")
    except OSError:
        return None
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "date":
            date = date_of(value.strip())
            off = None if date is None else abs(case.wall() - date)
            return off if off is not None and off >= _DAY else None
    return None


def _no_handshake(case: Case, error: OSError) -> Finding:
    if isinstance(error, TimeoutError):
        return problem(
            "tls",
            "silent",
            f"it accepts connections and says nothing within {case.limits.connect:g} s",
            "restart the server; something else may hold the port",
        )
    with contextlib.suppress(OSError):
        found = identify(case.server, case.limits.connect)
        if found.kind == "http":
            return problem(
                "tls",
                "plain_http_here",
                "this port speaks plain HTTP, not TLS",
                f"use http://{case.server.authority}{case.server.path}",
            )
        if found.kind == "other":
            return problem(
                "tls",
                "not_http",
                f"something else listens here and says {found.banner!r}",
                "correct the port",
            )
    return problem(
        "tls",
        "handshake_failed",
        f"no TLS connection comes about: {error.strerror or error}",
        "the port may belong to another program, or the server's TLS is too old",
    )
