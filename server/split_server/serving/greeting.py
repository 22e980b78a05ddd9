"""The greeting of a server on standard output, once it listens."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from split_server.pairing.invitation import grouped
from split_server.pairing.local_ca import lan_address
from split_server.security.access import is_loopback
from split_server.security.host import lan_addresses
from split_server.serving.doorway import Doorway

PRIVACY = (
    "privacy: assume that this server can recover prompts and replies from what it receives; "
    "split inference moves work and control to the device, it is not confidentiality"
)
# Left there by Docker and Podman.
_CONTAINERS = (Path("/.dockerenv"), Path("/run/.containerenv"))
# Takes lines for the operator.
Say = Callable[[Iterable[str]], object]


def greeting(
    doorway: Doorway, sockets: Sequence[socket.socket], beside: Sequence[socket.socket] = ()
) -> list[str]:
    """The token that was made, warnings, where a second listener is, and last ``listening on URL``
    for each socket.
    """
    policy = doorway.policy
    lines = []
    if policy.made is not None:
        lines.append(f"token: {policy.made}")
    if policy.open_to_network:
        lines.append("warning: --no-auth lets everyone who can reach this address in")
    if doorway.exposed or (doorway.beside is not None and doorway.beside.exposed):
        lines.append(
            "warning: without TLS everybody on the way can read and change what travels, tokens "
            "included, and phones' browsers withhold storage and more; --tls auto turns it on"
        )
    if doorway.certificate is not None:
        fingerprint = grouped(doorway.certificate.authority.fingerprint)
        lines.append(f"certificate authority {fingerprint}")
        secure = [*(sockets if doorway.tls else ())]
        secure += [] if doorway.beside is None or doorway.beside.tls is None else beside
        lines += [_not_covered(address) for address in _addresses(secure) if not _covered(address)]
    if doorway.beside is not None:
        urls = listening_urls(doorway.beside, beside)
        lines += [f"Ollama's API alone on {url}" for url in urls]
    for opened in sockets:
        host, port = opened.getsockname()[:2]
        if ipaddress.ip_address(host).is_unspecified:
            lines += [f"reachable at {url}" for url in lan_urls(doorway.scheme, port)]
        lines.append(f"listening on {_url(doorway.scheme, host, port)}")
    return lines


def contained(allow_host: Sequence[str], doorway: Doorway) -> list[str]:
    """What a server in a container cannot know: how it is reached from outside."""
    if allow_host or is_loopback(doorway.host) or not any(mark.exists() for mark in _CONTAINERS):
        return []
    return [
        "in a container: requests to the machine's own names and addresses are refused "
        "(forbidden_host) until --allow-host or SPLIT_SERVER_ALLOW_HOST names them"
    ]


def listening_urls(doorway: Doorway, sockets: Sequence[socket.socket]) -> list[str]:
    """What it listens on, wildcards as they are."""
    names = [opened.getsockname()[:2] for opened in sockets]
    return [_url(doorway.scheme, host, port) for host, port in names]


def device_urls(doorway: Doorway, sockets: Sequence[socket.socket]) -> list[str]:
    """URLs for devices: those on the LAN where it listens for it, else its own.

    Those come first that the local authority may vouch for.
    """
    urls: list[str] = []
    for opened in sockets:
        host, port = opened.getsockname()[:2]
        if ipaddress.ip_address(host).is_unspecified:
            urls += lan_urls(doorway.scheme, port)
        else:
            urls.append(_url(doorway.scheme, host, port))
    return sorted(dict.fromkeys(urls), key=lambda url: not _covered(urlsplit(url).hostname or ""))


def _addresses(sockets: Sequence[socket.socket]) -> list[str]:
    """Under which other machines may reach ``sockets``."""
    hosts = [str(opened.getsockname()[0]) for opened in sockets]
    everywhere = any(ipaddress.ip_address(host).is_unspecified for host in hosts)
    return lan_addresses() if everywhere else hosts


def _covered(address: str) -> bool:
    return bool(address) and lan_address(address)


def _not_covered(address: str) -> str:
    return (
        f"warning: {address} is no address of a local network, so the local authority cannot vouch "
        "for it; give --tls-cert and --tls-key for devices that use it"
    )


def lan_urls(scheme: str, port: int) -> list[str]:
    """One for each address that other machines may use."""
    return [_url(scheme, address, port) for address in lan_addresses()]


def _url(scheme: str, host: str, port: int) -> str:
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
