"""The access policy, by address and settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from split_server.security.access import AccessPolicy, ConflictingAccess, access_policy, is_loopback

_TOKEN = "a-token-of-enough-length"
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - only asked about, never bound


def _policy(host: str, **settings: Any) -> AccessPolicy:
    given: dict[str, Any] = {"token": None, "token_file": None, "auth": True} | settings
    return access_policy(host, generate=lambda: "the-generated-token", **given)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "::ffff:127.0.0.1"])
def test_loopback_needs_no_token(host: str) -> None:
    policy = _policy(host)
    assert policy.tokens is None
    assert policy.everyone == "local"
    assert not policy.open_to_network


@pytest.mark.parametrize("host", [_EVERYWHERE, "::", "192.168.1.5", "example.org"])
def test_beyond_loopback_a_token_is_made(host: str) -> None:
    policy = _policy(host)
    assert policy.made == "the-generated-token"
    assert policy.tokens is not None
    assert policy.tokens.identify("Bearer the-generated-token") == "owner"


@pytest.mark.parametrize("host", ["127.0.0.1", _EVERYWHERE])
def test_a_given_token_counts_everywhere(host: str) -> None:
    policy = _policy(host, token=_TOKEN)
    assert policy.made is None
    assert policy.tokens is not None
    assert policy.tokens.identify(f"Bearer {_TOKEN}") == "owner"


def test_no_auth_opens_the_server_in_words() -> None:
    policy = _policy(_EVERYWHERE, auth=False)
    assert policy.tokens is None
    assert policy.everyone == "anonymous"
    assert policy.open_to_network


def test_no_auth_on_loopback_changes_nothing() -> None:
    assert _policy("127.0.0.1", auth=False) == AccessPolicy(None)


@pytest.mark.parametrize(
    "settings",
    [
        {"token": _TOKEN, "auth": False},
        {"token_file": Path("tokens"), "auth": False},
        {"token": _TOKEN, "token_file": Path("tokens")},
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConflictingAccess):
        _policy(_EVERYWHERE, **settings)


@pytest.mark.parametrize("host", [_EVERYWHERE, "localhost.example.org", "128.0.0.1", "", "::2"])
def test_what_is_not_loopback(host: str) -> None:
    assert not is_loopback(host)
