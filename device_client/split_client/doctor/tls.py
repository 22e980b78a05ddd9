"""TLS: whether it is spoken, and whether the certificate is good for this name and this day."""

from __future__ import annotations

import socket
import ssl

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, caused, ok, warning
from split_client.transport.endpoint import Endpoint
from split_client.transport.reach.diagnosis import of_certificate, of_handshake
from split_client.transport.tls import tls_context

_DAY = 86400.0
_SOON_DAYS = 14


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
        limit = case.limits.connect
        return caused(
            "tls", of_certificate(server, error, probe=True, wall=case.wall, seconds=limit)
        )
    except OSError as error:
        return caused("tls", of_handshake(server, error, case.limits.connect, probe=True))


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
