"""One of several servers: what it is called, and what it may not be."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from split_server.security.access import AccessPolicy, ConflictingAccess
from split_server.serving.app import build_app
from split_server.serving.config import ServerConfig
from split_server.serving.doorway import Doorway, open_doorway
from split_server.serving.settings.replica import require_replica
from split_settings import BadValue, resolve

_TOKEN = "a-token-for-everybody"


def _doorway(tmp_path: Path, **settings: Any) -> Doorway:
    config = ServerConfig(state=tmp_path, replica="a", **settings)
    return open_doorway(config, lan=config.lan, addresses=lambda: ["192.168.1.7"])


def _resolved(**values: str) -> ServerConfig:
    environ = {f"SPLIT_SERVER_{name.upper()}": value for name, value in values.items()}
    return resolve(ServerConfig, Namespace(), environ, {})


@pytest.mark.parametrize("name", ["a", "pod-0", "Room_2.east", "x" * 64])
def test_a_name_has_letters_digits_and_three_marks(name: str) -> None:
    assert _resolved(replica=name).replica == name


@pytest.mark.parametrize("name", [".a", "a/b", "a b", "x" * 65, "ä", "a\n"])
def test_anything_else_is_no_name(name: str) -> None:
    with pytest.raises(BadValue, match="no name of a replica"):
        _resolved(replica=name)


@pytest.mark.parametrize("settings", [{}, {"tls": "off", "host": "192.168.1.7"}])
def test_a_replica_without_tokens_or_pairing_is_refused_on_loopback_too(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    with pytest.raises(ConflictingAccess, match="--token-file"):
        _doorway(tmp_path, **settings)
    with pytest.raises(ConflictingAccess, match="--no-auth"):
        _doorway(tmp_path, auth=False, **settings)


@pytest.mark.parametrize("settings", [{"tls": "on"}, {"host": "192.168.1.7"}, {"lan": True}])
def test_with_pairing_no_token_is_made_that_only_one_replica_would_know(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    doorway = _doorway(tmp_path, **settings)
    assert doorway.policy.made is None
    assert doorway.policy.tokens is not None
    assert doorway.policy.tokens.identify(f"Bearer {_TOKEN}") is None
    assert doorway.pairing is not None


def test_tokens_that_are_given_are_those_of_all_replicas(tmp_path: Path) -> None:
    policy = _doorway(tmp_path, token=_TOKEN).policy
    assert policy.tokens is not None
    assert policy.tokens.identify(f"Bearer {_TOKEN}") == "owner"


def test_each_replica_has_a_certificate_of_its_own(tmp_path: Path) -> None:
    _doorway(tmp_path, tls="on")
    assert {path.name for path in tmp_path.glob("*.pem")} == {"ca.pem", "server-a.pem"}


def test_a_replica_mounts_no_adapter_host_whose_budget_it_would_multiply() -> None:
    config = ServerConfig(replica="a", adapter_host=True)
    with pytest.raises(ConflictingAccess, match="split-server adapters"):
        require_replica(config, AccessPolicy(None), adapter_host=True)
    require_replica(ServerConfig(), AccessPolicy(None), adapter_host=True)


def test_whatever_hosts_the_application_of_a_replica_has_to_ask_for_tokens(
    tiny_path: Path,
) -> None:
    with pytest.raises(ConflictingAccess, match="asks everybody"):
        build_app(ServerConfig(model=str(tiny_path), replica="a"), AccessPolicy(None))


def test_the_public_address_is_a_host_and_an_origin_that_are_let_in() -> None:
    config = _resolved(public_url="https://chat.example.org:8443/", allow_host="box.lan")
    assert config.public_url == "https://chat.example.org:8443"
    assert config.hosts == ("box.lan", "chat.example.org")
    assert config.origins == ("https://chat.example.org:8443",)
    assert ServerConfig().hosts == ServerConfig().origins == ()


@pytest.mark.parametrize("url", ["chat.example.org", "ftp://a", "https://a/path", "https://"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadValue, match=r"write it like https://chat\.example\.org"):
        _resolved(public_url=url)
