"""Binding the listening sockets, before anything is accepted on them."""

from __future__ import annotations

import socket

from split_relay.address import Address, is_wildcard, plain_host
from split_relay.errors import ListenFailed


def bind(address: Address) -> list[socket.socket]:
    """Return one bound, non-listening socket per address that the host stands for.

    ``[::]`` takes IPv4 too where the system allows. Raises :class:`ListenFailed`.
    """
    try:
        found = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        raise ListenFailed(address, error.strerror or str(error)) from error
    bound: list[socket.socket] = []
    try:
        for family, kind, protocol, _, sockaddr in found:
            # With port 0 the first socket chooses, and the others follow.
            port = bound[0].getsockname()[1] if bound else sockaddr[1]
            bound.append(_bind_one(family, kind, protocol, (sockaddr[0], port, *sockaddr[2:])))
    except OSError as error:
        for sock in bound:
            sock.close()
        raise ListenFailed(address, error.strerror or str(error)) from error
    return bound


def _bind_one(family: int, kind: int, protocol: int, sockaddr: tuple[object, ...]) -> socket.socket:
    sock = socket.socket(family, kind, protocol)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            both = is_wildcard(str(sockaddr[0]))
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if both else 1)
        sock.setblocking(False)
        sock.bind(sockaddr)
    except OSError:
        sock.close()
        raise
    return sock


def leads_back(upstream: Address, bound: tuple[Address, ...]) -> bool:
    """Whether connections to ``upstream`` would arrive at one of the bound addresses."""
    same_port = [own for own in bound if own.port == upstream.port]
    if not same_port:
        return False
    try:
        found = socket.getaddrinfo(upstream.host, upstream.port, type=socket.SOCK_STREAM)
    except OSError:
        return False  # a name that appears later cannot be judged yet
    hosts = {plain_host(str(sockaddr[0])) for *_, sockaddr in found}
    return any(
        own.host in hosts or (is_wildcard(own.host) and any(map(_is_local, hosts)))
        for own in same_port
    )


def _is_local(host: str) -> bool:
    """Whether the IP address is one of this machine's: only those can be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((host, 0))
    except OSError:
        return False
    return True


def bound_address(sock: socket.socket) -> Address:
    """The address and real port of a bound socket."""
    host, port = sock.getsockname()[:2]
    return Address(plain_host(host), port)
