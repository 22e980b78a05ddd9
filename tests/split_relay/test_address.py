from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from split_relay.address import Address, is_loopback, is_wildcard, parse_address, plain_host
from split_relay.errors import BadAddress
from tests.split_relay.net import EVERYWHERE


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("127.0.0.1:8095", "127.0.0.1", 8095),
        (f"{EVERYWHERE}:0", EVERYWHERE, 0),
        ("[::]:9095", "::", 9095),
        ("[fe80::1%eth0]:1", "fe80::1%eth0", 1),
        ("localhost:65535", "localhost", 65535),
        ("my_server.lan.:80", "my_server.lan.", 80),
        (" 127.0.0.1:1 ", "127.0.0.1", 1),
    ],
)
def test_an_address_is_parsed(text: str, host: str, port: int) -> None:
    address = parse_address(text)
    assert (address.host, address.port) == (host, port)
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("127.0.0.1", "a port is missing"),
        ("", "a port is missing"),
        (":9095", "a host is missing"),
        ("::1:9095", "needs brackets"),
        ("[::1]", "a port is missing"),
        ("[::1]9095", "brackets hold an IPv6 address"),
        ("[127.0.0.1]:1", "brackets hold an IPv6 address"),
        ("[::g]:1", "brackets hold an IPv6 address"),
        ("[::1:1", "brackets hold an IPv6 address"),
        ("a b:1", "neither an IP address nor a host name"),
        ("-a:1", "neither an IP address nor a host name"),
        ("1.2.3:1", "four numbers from 0 to 255"),
        ("1.2.3.256:1", "four numbers from 0 to 255"),
        ("localhost:65536", "number from 0 to 65535"),
        ("localhost:-1", "number from 0 to 65535"),
        ("https://127.0.0.1:8095/", "without http://"),
        ("localhost:٣", "number from 0 to 65535"),
        ("http://a:1", "without http://"),
    ],
)
def test_a_bad_address_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(BadAddress) as caught:
        parse_address(text)
    assert reason in caught.value.reason
    assert caught.value.code == "bad_address"


@given(st.text(max_size=40) | st.from_regex(r"[\[\]:.0-9a-f%]{1,30}", fullmatch=True))
@example("[::%]:1")
def test_any_text_is_an_address_or_a_bad_address(text: str) -> None:
    try:
        address = parse_address(text)
    except BadAddress:
        return
    assert parse_address(str(address)) == address


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        (EVERYWHERE, False),
        ("::", False),
        ("192.0.2.1", False),
        ("::ffff:192.0.2.1", False),
        ("localhost", False),
        ("", False),
    ],
)
def test_only_addresses_of_this_machine_are_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def test_mapped_addresses_count_as_ipv4() -> None:
    assert plain_host("::ffff:192.0.2.1") == "192.0.2.1"
    assert plain_host("::1") == "::1"
    assert plain_host("name") == "name"


def test_a_wildcard_stands_for_every_address() -> None:
    assert is_wildcard(EVERYWHERE)
    assert is_wildcard("::")
    assert not is_wildcard("127.0.0.1")
    assert str(Address("::", 1)) == "[::]:1"
