"""What an address counts as where somebody may have as many of them as they like."""

from __future__ import annotations

import ipaddress


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
