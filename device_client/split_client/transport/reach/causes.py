"""The causes for which no connection comes about, in words: one table for commands and the doctor.

Codes are stable, and ``docs/doctor.md`` lists them.
"""

from __future__ import annotations

from dataclasses import dataclass

from split_client.transport.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class Cause:
    """``advice`` is what to do. ``final``: it stays as it is until somebody does that."""

    code: str
    message: str
    advice: str
    final: bool = False


PAIR = "split-server pair there, split-client pair here"
_AGAIN = f"pair again: {PAIR}"

# Certificates.
AUTHORITY_CHANGED = Cause(
    "authority_changed",
    "the server shows another certificate authority than the one that this device is paired with",
    f"if the server was set up anew, {_AGAIN}; else something else answers: do not go on",
    final=True,
)
SELF_SIGNED = Cause(
    "certificate_self_signed",
    "this device is not paired with the server, whose certificate is signed by itself or by an "
    "authority that this machine does not know",
    f"pair with it: {PAIR}; if you know where the certificate comes from, SSL_CERT_FILE=FILE "
    "trusts it; else do not go on",
    final=True,
)
UNKNOWN_AUTHORITY = Cause(
    "certificate_untrusted",
    "this device is not paired with the server, and no authority that this machine knows signed "
    "its certificate",
    f"pair with a split server: {PAIR}; another one has to send its whole chain, and an authority "
    "of your own goes into SSL_CERT_FILE",
    final=True,
)
EXPIRED = Cause(
    "certificate_expired",
    "the certificate has expired",
    "the server's owner has to renew it",
    final=True,
)
NOT_YET_VALID = Cause(
    "certificate_not_yet_valid",
    "the certificate is not valid yet",
    "check the clock of the machine that made it",
    final=True,
)


def wrong_name(host: str) -> Cause:
    """The certificate is not for ``host``."""
    return Cause(
        "certificate_name",
        f"the certificate belongs to another name than {host}",
        "use the name that the certificate is for, or get one for this name",
        final=True,
    )


def untrusted(reason: str) -> Cause:
    """``reason``: what the TLS library says."""
    return Cause(
        "certificate_untrusted",
        f"the certificate is refused: {reason}",
        "tell the server's owner; do not go on",
        final=True,
    )


def clock_wrong(days: float, *, expired: bool) -> Cause:
    """The certificate is good, and this machine's clock ``days`` off."""
    return Cause(
        "clock_wrong",
        f"the certificate seems {'expired' if expired else 'not valid yet'} because this machine's "
        f"clock is {days:.0f} days away from the server's",
        "set this machine's clock",
        final=True,
    )


# One end speaks TLS and the other does not, or the port belongs to something else.


def plain_http_here(endpoint: Endpoint) -> Cause:
    """An address of https whose port has no TLS."""
    return Cause(
        "plain_http_here",
        "this port speaks plain HTTP, not TLS",
        f"use http://{endpoint.host_and_port}{endpoint.path}",
        final=True,
    )


def tls_here(endpoint: Endpoint) -> Cause:
    """An address of http whose port wants TLS."""
    return Cause(
        "tls_here",
        "this port speaks TLS, not plain HTTP",
        f"use https://{endpoint.host_and_port}{endpoint.path}",
        final=True,
    )


def not_http(banner: str) -> Cause:
    """``banner``: the first line that it says."""
    return Cause("not_http", f"something else listens here and says {banner!r}", "correct the port")


def silent(seconds: float) -> Cause:
    """No word of a handshake."""
    return Cause(
        "silent",
        f"it accepts connections and says nothing within {seconds:g} s",
        "restart the server; something else may hold the port",
    )


def handshake_failed(reason: str) -> Cause:
    """``reason``: what the TLS library says."""
    return Cause(
        "handshake_failed",
        f"no TLS connection comes about: {reason}",
        "the port may belong to another program, or the server's TLS is too old",
    )


# The network.


def unknown_host(host: str) -> Cause:
    """A name without addresses."""
    return Cause(
        "unknown_host",
        f"no machine is called {host}",
        "check the spelling, the network and the VPN, or use the server's IP address",
    )


def dns_unavailable(host: str) -> Cause:
    """Nobody can say what addresses the name has."""
    return Cause(
        "dns_unavailable",
        f"no name server answers, so {host} cannot be looked up",
        "check this machine's network, or use the server's IP address",
    )


def nothing_listens(endpoint: Endpoint) -> Cause:
    """The machine refuses the connection."""
    return Cause(
        "nothing_listens",
        f"nothing listens on port {endpoint.port} of {endpoint.host}",
        "start split-server there, or correct the port; a server that listens on 127.0.0.1 is "
        "reached from its own machine only (split-relay or --host opens it)",
    )


def no_answer(endpoint: Endpoint, seconds: float) -> Cause:
    """Connections are neither accepted nor refused."""
    return Cause(
        "no_answer",
        f"no answer from port {endpoint.port} of {endpoint.host} within {seconds:g} s",
        "the machine is off, the address is wrong, or a firewall drops the connection",
    )


def no_route(host: str, reason: str) -> Cause:
    """``reason``: what the system says."""
    return Cause(
        "no_route",
        f"no way leads to {host}: {reason}",
        "check this machine's network and the VPN",
    )


def not_connected(endpoint: Endpoint, reason: str) -> Cause:
    """Anything else; ``reason``: what the system says."""
    where = f"port {endpoint.port} of {endpoint.host}"
    return Cause("not_connected", f"no connection to {where}: {reason}", "try again")


def proxy_refuses(reason: str) -> Cause:
    """``reason``: what the proxy of the environment says, or why it cannot be asked."""
    return Cause(
        "proxy_refuses",
        f"the proxy does not let the request through: {reason}",
        "add the server to NO_PROXY, or ask whoever runs the proxy",
    )


# The token.
TOKEN_MISSING = Cause(
    "token_missing",
    "this server asks for a token and none is given",
    f"pair this device ({PAIR}), or give the token that the server printed as --token or "
    "SPLIT_CLIENT_TOKEN",
)
TOKEN_WRONG = Cause(
    "token_wrong",
    "the server refuses this token",
    "compare it with the one that the server was started with (it prints one that it made)",
)
TOKEN_REVOKED = Cause(
    "token_revoked",
    "the server no longer knows this device: its pairing was revoked, or the server was set up "
    "anew",
    _AGAIN,
)


def token_refused(given: bool, *, paired: bool) -> Cause:
    """``given``: whether a token was sent; ``paired``: whether it is of a pairing."""
    if not given:
        return TOKEN_MISSING
    return TOKEN_REVOKED if paired else TOKEN_WRONG
