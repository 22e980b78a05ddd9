"""The relay's settings: flags, ``SPLIT_RELAY_*`` variables, the ``[relay]`` table."""

from __future__ import annotations

from split_relay.address import Address, parse_address
from split_settings import option, settings


@settings("relay")
class RelayConfig:
    """All times are in seconds."""

    listen: Address = option(
        Address("0.0.0.0", 9095),  # noqa: S104 - beyond loopback the upstream must ask for a token
        help="where phones connect; [::]:9095 takes IPv4 and IPv6",
        metavar="HOST:PORT",
        parse=parse_address,
        short="-l",
    )
    upstream: Address = option(
        Address("127.0.0.1", 8095),
        help="the server behind this relay",
        metavar="HOST:PORT",
        parse=parse_address,
        short="-u",
    )
    open: bool = option(
        False, help="relay beyond this machine even if the server does not ask for a token"
    )
    max_connections: int = option(
        256, help="most connections at once", minimum=1, maximum=65536, group="limits"
    )
    max_per_address: int = option(
        64, help="most connections of one address", minimum=1, maximum=65536, group="limits"
    )
    connect_timeout: float = option(
        5.0,
        help="seconds a connection waits for the server, retries included",
        metavar="S",
        minimum=0.05,
        maximum=600,
        group="times",
    )
    idle_timeout: float = option(
        600.0,
        help="seconds without a byte until a connection is closed",
        metavar="S",
        minimum=0.05,
        maximum=86400,
        group="times",
    )
    start_timeout: float = option(
        60.0,
        help="seconds to wait for the server when starting beyond loopback",
        metavar="S",
        minimum=0.05,
        maximum=86400,
        group="times",
    )
    grace: float = option(
        5.0,
        help="seconds that open connections may take to end when the relay stops",
        metavar="S",
        minimum=0,
        maximum=3600,
        group="times",
    )
    report_every: float = option(
        60.0,
        help="seconds between log lines with the counters",
        metavar="S",
        minimum=1,
        maximum=86400,
        group="times",
    )
    quiet: bool = option(False, help="print warnings and errors only", short="-q")
    qr: bool = option(True, help="print the address as a QR code on a terminal")
