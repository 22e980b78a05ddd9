from __future__ import annotations

from split_relay.address import Address
from split_relay.banner import banner, lan_hosts, reachable_urls
from tests.split_relay.net import EVERYWHERE

HOSTS = ["192.0.2.7", "2001:db8::7"]
UPSTREAM = Address("127.0.0.1", 8095)


def test_an_ipv4_wildcard_is_reached_over_ipv4_only() -> None:
    assert reachable_urls("http", [Address(EVERYWHERE, 9095)], HOSTS) == ["http://192.0.2.7:9095/"]


def test_an_ipv6_wildcard_is_reached_over_both() -> None:
    urls = reachable_urls("https", [Address("::", 1)], HOSTS)
    assert urls == ["https://192.0.2.7:1/", "https://[2001:db8::7]:1/"]


def test_a_named_address_is_shown_as_it_is_and_loopback_never() -> None:
    bound = [Address("127.0.0.1", 1), Address("192.0.2.9", 2)]
    assert reachable_urls("http", bound, HOSTS) == ["http://192.0.2.9:2/"]


def test_the_banner_shows_the_address_for_the_phone() -> None:
    text = banner("http", (Address(EVERYWHERE, 9),), ["http://a/", "http://b/"], UPSTREAM)
    assert "Relaying 0.0.0.0:9 to 127.0.0.1:8095" in text
    assert "Open on the phone:  http://a/" in text
    assert "or:  http://b/" in text


def test_the_banner_says_that_loopback_is_for_this_machine() -> None:
    text = banner("http", (Address("127.0.0.1", 9),), [], UPSTREAM)
    assert "Only this machine can connect:  http://127.0.0.1:9/" in text


def test_the_banner_says_when_there_is_no_network() -> None:
    text = banner("http", (Address(EVERYWHERE, 9),), [], UPSTREAM)
    assert "join a network first" in text


def test_own_addresses_leave_out_what_a_neighbour_cannot_use() -> None:
    for host in lan_hosts():
        assert not host.startswith(("127.", "169.254.", "fe80", "0.")), host
        assert host != "::1"


def test_behind_tls_the_banner_says_how_a_device_is_paired() -> None:
    text = banner("https", (Address(EVERYWHERE, 9),), ["https://a:9/"], UPSTREAM)
    assert "split-server pair --url https://a:9\n" in text
    assert "split-server pair" not in banner(
        "http", (Address(EVERYWHERE, 9),), ["http://a/"], UPSTREAM
    )


def test_the_banner_does_not_claim_what_a_silent_server_speaks() -> None:
    text = banner(None, (Address(EVERYWHERE, 9),), ["http://a/"], UPSTREAM)
    assert "If it speaks TLS, write https" in text
