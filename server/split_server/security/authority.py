"""Reading ``host[:port]`` and origins (RFC 3986, 3.2; RFC 6454)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_AUTHORITY = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::(?P<port>\d{1,5}))?"
)
_ORIGIN = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/\s?#@]+)")
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Authority:
    """``host`` in lower case, an IPv6 address without brackets; ``port`` None when left out."""

    host: str
    port: int | None


def parse_authority(text: str) -> Authority | None:
    """None when ``text`` is not ``host[:port]``."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    host = (match["v6"] or match["name"]).lower().rstrip(".")
    port = None if match["port"] is None else int(match["port"])
    if not host or (port is not None and port > 65535):
        return None
    return Authority(host, port)


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port; ``port`` None where the scheme has no default and none is named."""

    scheme: str
    host: str
    port: int | None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        plain = self.port is None or self.port == _DEFAULT_PORTS.get(self.scheme)
        return f"{self.scheme}://{host}" if plain else f"{self.scheme}://{host}:{self.port}"


def parse_origin(text: str) -> Origin | None:
    """None for ``null`` and whatever else is not ``scheme://host[:port]``."""
    match = _ORIGIN.fullmatch(text)
    return None if match is None else origin_at(match["scheme"], match["authority"])


def origin_at(scheme: str, authority: str) -> Origin | None:
    """The origin of ``scheme`` at ``host[:port]``."""
    parsed = parse_authority(authority)
    if parsed is None:
        return None
    scheme = scheme.lower()
    port = parsed.port if parsed.port is not None else _DEFAULT_PORTS.get(scheme)
    return Origin(scheme, parsed.host, port)
