"""What a server says on standard output once it listens."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

from split_server.doorway import Doorway
from split_server.pairing.invitation import grouped
from split_server.security.host import lan_addresses


def greeting(doorway: Doorway, sockets: Sequence[socket.socket]) -> list[str]:
    """The token that was made, warnings, and last ``listening on URL`` for each socket."""
    policy = doorway.policy
    lines = []
    if policy.made is not None:
        lines.append(f"token: {policy.made}")
    if policy.open_to_network:
        lines.append("warning: --no-auth lets everyone who can reach this address in")
    if doorway.exposed:
        lines.append(
            "warning: without TLS everybody on the way can read and change what travels, tokens "
            "included, and phones' browsers withhold storage and more; --tls auto turns it on"
        )
    if doorway.certificate is not None:
        fingerprint = grouped(doorway.certificate.authority.fingerprint)
        lines.append(f"certificate authority {fingerprint}")
    for opened in sockets:
        host, port = opened.getsockname()[:2]
        if ipaddress.ip_address(host).is_unspecified:
            lines += [f"reachable at {url}" for url in lan_urls(doorway.scheme, port)]
        lines.append(f"listening on {_url(doorway.scheme, host, port)}")
    return lines


def device_urls(doorway: Doorway, sockets: Sequence[socket.socket]) -> list[str]:
    """URLs for devices: those on the LAN where it listens for it, else its own."""
    urls: list[str] = []
    for opened in sockets:
        host, port = opened.getsockname()[:2]
        if ipaddress.ip_address(host).is_unspecified:
            urls += lan_urls(doorway.scheme, port)
        else:
            urls.append(_url(doorway.scheme, host, port))
    return list(dict.fromkeys(urls))


def lan_urls(scheme: str, port: int) -> list[str]:
    """One for each address that other machines may use."""
    return [_url(scheme, address, port) for address in lan_addresses()]


def _url(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
