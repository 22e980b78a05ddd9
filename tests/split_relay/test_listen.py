from __future__ import annotations

import socket

import pytest

from split_relay.address import Address
from split_relay.errors import ListenFailed
from split_relay.listen import bind, bound_address, leads_back
from tests.split_relay.net import EVERYWHERE, LOCAL, has_ipv6_loopback

needs_ipv6 = pytest.mark.skipif(not has_ipv6_loopback(), reason="this machine has no ::1")


def test_a_free_port_is_chosen_for_port_zero() -> None:
    (sock,) = bind(Address(LOCAL, 0))
    with sock:
        address = bound_address(sock)
    assert address.host == LOCAL
    assert address.port > 0


def test_a_bound_socket_does_not_accept_yet() -> None:
    (sock,) = bind(Address(EVERYWHERE, 0))
    with sock, socket.socket() as client, pytest.raises(ConnectionRefusedError):
        client.connect((LOCAL, bound_address(sock).port))


def test_a_port_in_use_is_reported() -> None:
    with socket.socket() as taken:
        taken.bind((LOCAL, 0))
        taken.listen()
        address = Address(LOCAL, taken.getsockname()[1])
        with pytest.raises(
            ListenFailed, match=r"cannot listen on 127\.0\.0\.1:.*in use; choose another --listen"
        ) as caught:
            bind(address)
    assert caught.value.code == "listen_failed"


@needs_ipv6
def test_the_ipv6_wildcard_takes_ipv4_too() -> None:
    (sock,) = bind(Address("::", 0))
    with sock:
        sock.listen()
        for host in ("::1", LOCAL):
            with socket.create_connection((host, bound_address(sock).port)):
                peer, _ = sock.accept()
                peer.close()


@needs_ipv6
def test_ipv6_loopback_stays_loopback() -> None:
    (sock,) = bind(Address("::1", 0))
    with sock:
        assert bound_address(sock).host == "::1"
        assert sock.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY) == 1


@pytest.mark.parametrize(
    ("upstream", "bound", "back"),
    [
        (Address(LOCAL, 7), Address(LOCAL, 7), True),
        (Address(LOCAL, 7), Address(LOCAL, 8), False),
        (Address(LOCAL, 7), Address(EVERYWHERE, 7), True),
        (Address("192.0.2.99", 7), Address(EVERYWHERE, 7), False),
        (Address("127.0.0.2", 7), Address(LOCAL, 7), False),
    ],
)
def test_an_upstream_that_leads_back_is_recognised(
    upstream: Address, bound: Address, back: bool
) -> None:
    assert leads_back(upstream, (bound,)) is back
