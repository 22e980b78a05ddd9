"""``HOST:PORT`` in text, and what a host is: loopback, wildcard, or reachable from elsewhere."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from split_relay.errors import BadAddress

# RFC 1123 labels, with the underscore that container names use.
_HOSTNAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9_-]{1,63}(?<!-))*\.?")


@dataclass(frozen=True, slots=True)
class Address:
    """A host name or IP address (IPv6 without brackets) and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """Parse ``host:port``, ``1.2.3.4:port`` or ``[v6]:port``; raises :class:`BadAddress`.

    Port 0 is allowed and means any free port.
    """
    if "://" in text:
        raise BadAddress(text, "write host and port alone, as in 127.0.0.1:8095, without http://")
    host, separator, port = text.strip().rpartition(":")
    if not separator or text.rstrip().endswith("]"):
        raise BadAddress(text, "a port is missing, as in 127.0.0.1:8095")
    return Address(_host(text, host), _port(text, port))


def _port(text: str, port: str) -> int:
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535):
        raise BadAddress(text, "the port must be a number from 0 to 65535")
    return int(port)


def _host(text: str, host: str) -> str:
    if host.startswith("[") or host.endswith("]"):
        return _bracketed(text, host)
    if not host:
        raise BadAddress(text, "a host is missing; 0.0.0.0 listens on every IPv4 address")
    if ":" in host:
        raise BadAddress(text, "an IPv6 address needs brackets, as in [::1]:9095")
    if _HOSTNAME.fullmatch(host) is None or len(host) > 253:
        raise BadAddress(text, "the host is neither an IP address nor a host name")
    if re.fullmatch(r"[0-9.]+", host) and not _is_ip(host):
        raise BadAddress(text, "an IPv4 address has four numbers from 0 to 255")
    return host


def _bracketed(text: str, host: str) -> str:
    inner = host[1:-1]
    if not (host.startswith("[") and host.endswith("]") and ":" in inner and _is_ip(inner)):
        raise BadAddress(text, "brackets hold an IPv6 address, as in [::]:9095")
    return inner


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def plain_host(host: str) -> str:
    """The IPv4 form of an IPv4-mapped IPv6 address; anything else as it is."""
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return host if mapped is None else str(mapped)


def is_loopback(host: str) -> bool:
    """Whether an IP address can be reached from its own machine only; names are never loopback."""
    try:
        return ipaddress.ip_address(plain_host(host)).is_loopback
    except ValueError:
        return False


def is_wildcard(host: str) -> bool:
    """Whether an IP address stands for every address of the machine."""
    return _is_ip(host) and ipaddress.ip_address(host).is_unspecified
