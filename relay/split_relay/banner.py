"""The banner for a person when the relay is up: the address for the phone."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterable

from split_relay.address import Address, is_loopback, is_wildcard

# Documentation and private addresses: choosing a route to them shows our own address on that
# route. Connecting a datagram socket sends nothing.
HTTP = "http"
_ROUTE_TARGETS = (
    (socket.AF_INET, "192.0.2.1"),
    (socket.AF_INET, "10.255.255.254"),
    (socket.AF_INET, "172.31.255.254"),
    (socket.AF_INET, "192.168.255.254"),
    (socket.AF_INET6, "2001:db8::1"),
)


def lan_hosts() -> list[str]:
    """This machine's IP addresses that its neighbours can use, IPv4 first."""
    found: dict[str, None] = {}
    for family, target in _ROUTE_TARGETS:
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((target, 9))
            found[str(sock.getsockname()[0])] = None
    with contextlib.suppress(OSError):
        for *_, sockaddr in socket.getaddrinfo(socket.gethostname(), None):
            found[str(sockaddr[0])] = None
    usable = [host for host in found if _is_usable(host)]
    return sorted(usable, key=lambda host: ":" in host)


def _is_usable(host: str) -> bool:
    ip = ipaddress.ip_address(host)
    return not (ip.is_loopback or ip.is_link_local or ip.is_unspecified)


def reachable_urls(scheme: str, bound: Iterable[Address], hosts: Iterable[str]) -> list[str]:
    """URLs under which another machine finds the relay; ``hosts`` stand in for a wildcard.

    An IPv6 wildcard takes IPv4 too.
    """
    urls: dict[str, None] = {}
    for address in bound:
        if is_loopback(address.host):
            continue
        names = [address.host]
        if is_wildcard(address.host):
            names = [host for host in hosts if ":" in address.host or ":" not in host]
        for name in names:
            urls[f"{scheme}://{Address(name, address.port)}/"] = None
    return list(urls)


def banner(
    scheme: str | None, bound: tuple[Address, ...], urls: list[str], upstream: Address
) -> str:
    """The lines that say where to connect; ``bound`` is never empty.

    ``scheme`` is None where the server has not shown whether it speaks TLS.
    """
    where = ", ".join(map(str, bound))
    lines = ["", f"  Relaying {where} to {upstream}", ""]
    if urls:
        lines.append(f"  Open on the phone:  {urls[0]}")
        lines += [f"                 or:  {url}" for url in urls[1:]]
        lines.append(f"  In a terminal there: split-client chat --url {urls[0].rstrip('/')}")
    elif all(is_loopback(address.host) for address in bound):
        lines.append(f"  Only this machine can connect:  {scheme or HTTP}://{bound[0]}/")
    else:
        lines.append(
            "  This machine has no address that a phone could reach; join a network first."
        )
    return "\n".join([*lines, *_tls(scheme, urls), ""])


def _tls(scheme: str | None, urls: list[str]) -> list[str]:
    if scheme is None:
        return ["  The server does not answer yet. If it speaks TLS, write https in place of http."]
    if scheme == HTTP or not urls:
        return []
    return [
        "  A device that is not paired yet: where the server runs,",
        f"                       split-server pair --url {urls[0].rstrip('/')}",
    ]
