"""Reading the pairing link."""

from __future__ import annotations

import pytest

from split_client.pairing.errors import LinkInvalid
from split_client.pairing.link import PairingLink
from split_client.transport.endpoint import UrlInvalid
from split_server.pairing.invitation import Invitation


def test_what_the_server_shows_is_what_the_device_reads() -> None:
    shown = Invitation("https://192.168.1.7:8095", "AB12-CD34", bytes(range(32)))
    link = PairingLink.parse(f" {shown.link} ")
    assert link.endpoint.url == shown.url
    assert link.code == "AB12CD34"
    assert link.fingerprint == shown.fingerprint


def test_with_a_public_certificate_there_is_no_fingerprint() -> None:
    shown = Invitation("https://chat.example.com", "AB12-CD34", None)
    assert PairingLink.parse(shown.link).fingerprint is None


def test_an_address_and_a_typed_code_do() -> None:
    link = PairingLink.parse("https://192.168.1.7:8095", "ab12-cd34")
    assert (link.code, link.fingerprint) == ("ab12-cd34", None)


@pytest.mark.parametrize(
    "text",
    [
        "https://h:1/pair",
        "https://h:1/pair#",
        "https://h:1/pair#AB12CD34.short",
        "https://h:1/pair#AB12CD34.%%%",
        "https://h:1/pair#AB12 CD34",
        "",
    ],
)
def test_anything_else_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(LinkInvalid, match="copy the whole link"):
        PairingLink.parse(text)


def test_an_address_that_is_none_is_told() -> None:
    with pytest.raises(UrlInvalid):
        PairingLink.parse("ftp://h/pair#AB12CD34")


@pytest.mark.parametrize("host", ["a..b", "xn--", "[::1"])
def test_a_link_to_a_host_that_cannot_be_is_told(host: str) -> None:
    with pytest.raises(UrlInvalid, match="not a name or an address"):
        PairingLink.parse(f"https://{host}/pair#AB12CD34")
