"""Whom a TLS connection trusts: a paired server's own authority, else the system's."""

from __future__ import annotations

import ssl

from split_client.transport.endpoint import Endpoint
from split_client.transport.known import KnownServers, KnownServersDamaged


def tls_context(endpoint: Endpoint) -> ssl.SSLContext:
    """Verifies name and chain; the only authority is the pinned one where there is one.

    Raises KnownServersDamaged.
    """
    known = KnownServers()
    server = known.find(endpoint)
    if server is None or server.ca is None:
        return ssl.create_default_context()
    try:
        return pinned_context(server.ca)
    except (ssl.SSLError, ValueError) as error:
        raise KnownServersDamaged(known.path, "a certificate in it is damaged") from error


def pinned_authority(endpoint: Endpoint) -> str | None:
    """The authority (PEM) that a paired server is pinned to, None where the system's are asked.

    Raises KnownServersDamaged.
    """
    server = KnownServers().find(endpoint)
    return None if server is None else server.ca


def pinned_context(ca: str) -> ssl.SSLContext:
    """Trusts the authority of ``ca`` (PEM) and nobody else. Raises ssl.SSLError, ValueError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_verify_locations(cadata=ca)
    return context


def no_context() -> ssl.SSLContext:
    """For a client that never speaks TLS: trusts nobody, and costs no reading of authorities."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def unverified_context() -> ssl.SSLContext:
    """For what is checked by its own hash afterwards."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
