"""Settings that every server has: where it listens, who may come in, how it logs."""

from __future__ import annotations

import ipaddress
from pathlib import Path

from split_server.security.authority import parse_authority, parse_origin
from split_server.security.networks import is_local
from split_settings import option, settings

NETWORK, ACCESS = "network", "access"
# Chats of the page keep the host with the name of an adapter.
_LONGEST_HOST = 200


def _origin(text: str) -> str:
    origin = parse_origin(text.strip().rstrip("/"))
    if origin is None:
        raise ValueError(f"{text!r} is not an origin; write it like https://chat.example.org:8443")
    return str(origin)


def _host_name(text: str) -> str:
    authority = parse_authority(text.strip())
    if authority is None or authority.port is not None:
        raise ValueError(
            f"{text!r} is not a host; write its name or address alone, like chat.example.org"
        )
    return authority.host


def _ip_address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError:
        raise ValueError(f"{text!r} is not an IP address; write it like 127.0.0.1") from None


def listen_address(text: str) -> str:
    """``text`` if it is an address and a port. Raises ValueError."""
    authority = parse_authority(text.strip())
    if authority is None or authority.port is None:
        raise ValueError(f"{text!r} is no address and port; write it like 127.0.0.1:11434")
    return text.strip()


def ops_address(text: str) -> str:
    """``text`` if it is a loopback or private address and a port. Raises ValueError."""
    authority = parse_authority(listen_address(text))
    host = "" if authority is None else authority.host
    try:
        local = host == "localhost" or is_local(host)
    except ValueError:
        raise ValueError(f"{text!r} names no IP address; write it like 127.0.0.1:9095") from None
    if not local:
        raise ValueError(
            f"{text!r}: health and metrics are for loopback and private addresses alone; name one, "
            "such as 127.0.0.1 (0.0.0.0 and :: stand for public ones too)"
        )
    return text.strip()


def policy_origin(text: str) -> str:
    """The origin ``text`` as a content security policy names it. Raises ValueError."""
    origin = parse_origin(text.strip().rstrip("/"))
    if origin is None or origin.scheme not in ("http", "https"):
        raise ValueError(f"{text!r} is not an origin; write it like https://adapters.example.org")
    if ":" in origin.host:
        raise ValueError(f"{text!r}: browsers' policies take no IPv6 address; give the host a name")
    if len(origin.host) > _LONGEST_HOST:
        raise ValueError(f"the name of a host has at most {_LONGEST_HOST} characters here")
    return str(origin)


@settings("server", slots=False)
class ListenConfig:
    """A base of the settings of each server.

    ``hosts``: names under which it is reached beside its own; ``origins`` whose pages may use it.
    """

    host: str = option("127.0.0.1", help="address to listen on", metavar="ADDRESS", group=NETWORK)
    tls: str = option(
        "auto",
        help="auto: on beyond loopback; on: on loopback too, for a relay in front; off: plain "
        "HTTP, which everybody on the way can read",
        choices=("auto", "on", "off"),
        group=NETWORK,
    )
    tls_cert: Path | None = option(
        None,
        help="PEM certificate chain of your own (default: one of a local authority made here)",
        metavar="FILE",
        group=NETWORK,
    )
    tls_key: Path | None = option(
        None, help="PEM key of that certificate", metavar="FILE", group=NETWORK
    )
    state: Path | None = option(
        None,
        help="folder of the local authority, certificates and paired devices (default: the "
        "platform's data folder)",
        metavar="DIR",
        group=ACCESS,
    )
    allow_host: tuple[str, ...] = option(
        (),
        help="name under which clients reach this server, besides its own addresses",
        metavar="NAME",
        group=NETWORK,
        parse=_host_name,
    )
    allow_origin: tuple[str, ...] = option(
        (),
        help="origin whose browser pages may use this server",
        metavar="URL",
        group=NETWORK,
        parse=_origin,
    )
    balancer: tuple[str, ...] = option(
        (),
        help="IP address of a relay or proxy, which opens connections for many others: exempt from "
        "the limit per address, never from the total of 1,024",
        metavar="ADDRESS",
        group=NETWORK,
        parse=_ip_address,
    )
    max_connections_per_address: int = option(
        256,
        help="connections from one address; of IPv6 addresses, from one network of 64 bits",
        minimum=1,
        maximum=1024,
        group=NETWORK,
    )
    token: str | None = option(
        None,
        help="bearer token that clients must send; safer as a SPLIT_ variable",
        metavar="TOKEN",
        group=ACCESS,
        secret=True,
    )
    token_file: Path | None = option(
        None, help="file with lines of 'name token'", metavar="FILE", group=ACCESS
    )
    auth: bool = option(
        True,
        help="ask for a token when listening beyond loopback; --no-auth lets everyone in",
        group=ACCESS,
    )
    log_level: str = option(
        "info", help="least severe log lines", choices=("debug", "info", "warning", "error")
    )
    log_format: str = option(
        "text", help="log lines for people, or one JSON object each", choices=("text", "json")
    )

    @property
    def hosts(self) -> tuple[str, ...]:
        return self.allow_host

    @property
    def origins(self) -> tuple[str, ...]:
        return self.allow_origin
