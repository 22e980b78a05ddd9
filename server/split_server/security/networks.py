"""Addresses: which ones are local, and what one counts as where somebody may have many of them."""

from __future__ import annotations

import ipaddress

# Loopback, and what only machines of one network reach: RFC 1918, 3927, 4193, 4291 and 6598.
LOCAL_NETWORKS = (
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "fc00::/7",
    "fe80::/10",
    "::1/128",
)


def is_local(address: str) -> bool:
    """Whether IP ``address`` is one of those networks'. Raises ValueError."""
    ip = ipaddress.ip_address(address)
    networks = map(ipaddress.ip_network, LOCAL_NETWORKS)
    return any(ip in network for network in networks if network.version == ip.version)


def network_of(address: str) -> str:
    """An IPv4 address itself, of an IPv6 address the 64 bits that one customer has.

    Text that is no address counts as itself.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed) >> 64 << 64, 64)))
