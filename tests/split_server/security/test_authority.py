"""Reading hosts and origins."""

from __future__ import annotations

import pytest

from split_server.security.authority import Authority, origin_at, parse_authority, parse_origin


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Example.ORG", Authority("example.org", None)),
        ("example.org.:8095", Authority("example.org", 8095)),
        ("127.0.0.1:80", Authority("127.0.0.1", 80)),
        ("[::1]:8095", Authority("::1", 8095)),
        ("[fe80::1]", Authority("fe80::1", None)),
    ],
)
def test_authorities(text: str, expected: Authority) -> None:
    assert parse_authority(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", ":80", "a b", "user@host", "host:", "host:99999", "host:1:2", "::1", "[::1", "h/x", "."],
)
def test_what_is_no_authority(text: str) -> None:
    assert parse_authority(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTPS://Example.org:443", "https://example.org"),
        ("http://example.org:80", "http://example.org"),
        ("http://[::1]:8095", "http://[::1]:8095"),
        ("capacitor://localhost", "capacitor://localhost"),
    ],
)
def test_origins_have_one_spelling(text: str, expected: str) -> None:
    assert str(parse_origin(text)) == expected


@pytest.mark.parametrize(
    "text", ["null", "", "*", "example.org", "http://", "http://a/b", "http://a b"]
)
def test_what_is_no_origin(text: str) -> None:
    assert parse_origin(text) is None


def test_the_default_port_is_the_same_origin() -> None:
    assert parse_origin("http://example.org") == origin_at("http", "example.org:80")
    assert parse_origin("https://example.org") != origin_at("http", "example.org")
